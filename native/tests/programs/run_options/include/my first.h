#define FIRST 10
