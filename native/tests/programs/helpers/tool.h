float timed(int argc, char **argv, int *count);
