#include "lint/memory/estimate.h"
