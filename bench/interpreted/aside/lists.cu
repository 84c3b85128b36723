// Lists in an array, linked by index: built, walked, reversed.
#include <cstdio>
#include <cstdlib>

struct Node {
    int next;
    int value;
};

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    const int n = 8192;
    Node *nodes = (Node *)malloc(n * sizeof(Node));
    unsigned total = 0;
    for (int i = 0; i < n; i++) {
        nodes[i].next = (i * 1365 + 7) & (n - 1);
        nodes[i].value = i % 1000;
    }
    int head = 0;
    for (int round = 0; round < rounds; round++) {
        int length = 0;
        for (int at = head; length < n; at = nodes[at].next) {
            total = total * 7 + nodes[at].value;
            length++;
        }
        int before = -1, at = head;
        for (int i = 0; i < n; i++) {
            int then = nodes[at].next;
            nodes[at].next = before < 0 ? at : before;
            before = at;
            at = then;
            if (at == head) break;
        }
        nodes[head].next = before;
        nodes[head].value++;
        head = before;
    }
    printf("%u\n", total);
    free(nodes);
    return 0;
}
