#include "lint/read/document.h"
