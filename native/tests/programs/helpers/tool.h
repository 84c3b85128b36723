float timed(int argc, char **argv, int *count);
size_t bytes_of(int generators);
