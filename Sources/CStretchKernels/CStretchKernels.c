#include "CStretchKernels.h"
