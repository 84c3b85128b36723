// Particles as an array of structs: they move, and turn round at the walls.
#include <cstdio>
#include <cstdlib>

struct Particle {
    float x, y, z, vx, vy, vz, mass;
    int hits;
};

static unsigned state = 12345;
static unsigned next() { return state = state * 1664525u + 1013904223u; }

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    const int n = 5000;
    Particle *p = (Particle *)malloc(n * sizeof(Particle));
    for (int i = 0; i < n; i++) {
        Particle q = {(float)(next() % 100), 1, 2, (float)(next() % 3), 0.5f, 0.25f, 1, 0};
        p[i] = q;
    }
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < n; i++) {
            Particle &q = p[i];
            q.x += q.vx * 0.01f;
            q.y += q.vy * 0.01f;
            q.z += q.vz * 0.01f;
            if (q.x > 50 || q.x < 0) {
                q.vx = -q.vx;
                q.hits++;
            }
        }
    double total = 0;
    for (int i = 0; i < n; i++) total += p[i].x + p[i].y + p[i].z + p[i].hits;
    printf("%.9g\n", total);
    free(p);
    return 0;
}
