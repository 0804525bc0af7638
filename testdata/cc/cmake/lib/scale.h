#pragma once
void scale(float *x, float f, int n);
