// A parallel region in a header.
#include "../cc.h"
#include "header.h"

int main() { printf("total %d\n", total(10)); }
