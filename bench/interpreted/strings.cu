// A text is made, its words are found, turned to capitals, compared and counted.
#include <cstdio>
#include <cstdlib>

static unsigned state = 12345;
static unsigned next() { return state = state * 1664525u + 1013904223u; }

static int length(const char *s) {
    int n = 0;
    while (s[n]) n++;
    return n;
}

static bool same(const char *a, const char *b) {
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

static char capital(char c) { return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c; }

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    const char *list[] = {"stream", "kernel", "warp", "lane", "block", "grid", "bank", "sector"};
    const int bytes = 40000;
    char *text = (char *)malloc(bytes), word[32];
    unsigned long long total = 0;
    for (int round = 0; round < rounds; round++) {
        int end = 0;
        while (end < bytes - 20) {
            const char *pick = list[(next() >> 16) % 8];
            for (int i = 0; i < length(pick); i++) text[end++] = pick[i];
            text[end++] = ' ';
        }
        text[end] = 0;
        int counts[8] = {0};
        for (int at = 0; text[at];) {
            int n = 0;
            while (text[at] && text[at] != ' ') word[n++] = text[at++];
            word[n] = 0;
            while (text[at] == ' ') at++;
            for (int k = 0; k < 8; k++)
                if (same(word, list[k])) counts[k]++;
        }
        for (int i = 0; text[i]; i++) text[i] = capital(text[i]);
        for (int i = 0; text[i]; i++) total = total * 5 + (unsigned char)text[i];
        for (int k = 0; k < 8; k++) total += counts[k] * (k + 1);
    }
    printf("%llu\n", total);
    free(text);
    return 0;
}
