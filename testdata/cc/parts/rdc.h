// What rdc.cu has for other files.
#pragma once
extern __device__ int shared_counter; // of the program
extern __constant__ int table[4];
__device__ int elsewhere(int);
void there(int *p);
