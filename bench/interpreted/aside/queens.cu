// Queens on a board, by recursion.
#include <cstdio>
#include <cstdlib>

static int columns[16];

static bool fits(int row, int column) {
    for (int r = 0; r < row; r++) {
        int d = columns[r] - column;
        if (d == 0 || d == row - r || d == r - row) return false;
    }
    return true;
}

static int place(int row, int n) {
    if (row == n) return 1;
    int found = 0;
    for (int column = 0; column < n; column++)
        if (fits(row, column)) {
            columns[row] = column;
            found += place(row + 1, n);
        }
    return found;
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    int total = 0;
    for (int round = 0; round < rounds; round++) total += place(0, 6 + round % 3);
    printf("%d\n", total);
    return 0;
}
