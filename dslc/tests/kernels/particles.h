enum Kind : unsigned char { LIGHT, HEAVY };

struct __align__(16) Particle {
    float3 position;
    float velocity[3];
    Kind kind;
};

struct Wind {
    float2 force;
    float damping;
};
