/* cuFFT's extended interface: transforms over several GPUs and callbacks are not there. */
#include "cufft.h"
