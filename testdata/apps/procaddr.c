#define _GNU_SOURCE
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
static char names[2000][96]; static void *addr[2000]; static int n;
static const char *sym(void *p){ static char b[96]; for(int i=0;i<n;i++) if(addr[i]==p) return names[i]; snprintf(b,96,"?%d",p!=0); return p?b:"NULL"; }
int main(int c,char**v){
  void*h=dlopen("libcuda.so.1",RTLD_NOW); FILE*f=fopen(v[1],"r"); char line[256];
  while(fgets(line,256,f)){ line[strcspn(line,"\n@")]=0; if(!line[0])continue; strcpy(names[n],line); addr[n]=dlsym(h,line); n++; }
  cuInit(0);
  char seen[2000][96]; int ns=0;
  for(int i=0;i<n;i++){
    char base[96]; strcpy(base,names[i]); char*p;
    if((p=strstr(base,"_ptsz"))) *p=0; if((p=strstr(base,"_ptds"))) *p=0;
    size_t L=strlen(base); if(L>3&&base[L-3]=='_'&&base[L-2]=='v') base[L-3]=0;
    int dup=0; for(int k=0;k<ns;k++) dup|=!strcmp(seen[k],base); if(dup) continue; strcpy(seen[ns++],base);
    for(int fl=0;fl<3;fl++){ char last[200]=""; printf("%s %d",base,fl);
      for(int ver=1000;ver<=13010;ver+=10){ void*q=(void*)1; CUdriverProcAddressQueryResult st=99; int e=cuGetProcAddress_v2(base,&q,ver,fl,&st); char cur[200]; snprintf(cur,200,"%d/%d/%s",e,(int)st,e?"-":sym(q)); if(strcmp(cur,last)){printf(" %d:%s",ver,cur);strcpy(last,cur);} }
      printf("\n"); }
  }
  /* attributes of the device, and of odd names */
  for(int a=1;a<160;a++){int x=-12345;int e=cuDeviceGetAttribute(&x,(CUdevice_attribute)a,0);printf("attr %d %d %d\n",a,e,x);}
  for(int e=0;e<1100;e++){const char*s=0,*t=0; if(!cuGetErrorName((CUresult)e,&s)){cuGetErrorString((CUresult)e,&t);printf("error %d %s|%s\n",e,s,t);}}
  for(int l=0;l<8;l++){size_t x=0;CUcontext cx;cuDevicePrimaryCtxRetain(&cx,0);cuCtxSetCurrent(cx);int e=cuCtxGetLimit(&x,(CUlimit)l);printf("limit %d %d %zu\n",l,e,x);}

  { CUmodule m; CUfunction k; static const char*ptx=".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u32 a, .param .u64 p, .param .u32 b) { .reg .b64 %a; .reg .b32 %t,%u; ld.param.u64 %a, [p]; ld.param.u32 %t, [a]; ld.param.u32 %u,[b]; add.u32 %t,%t,%u; st.global.u32 [%a], %t; ret; }\n";
    printf("load %d\n",cuModuleLoadData(&m,ptx)); cuModuleGetFunction(&k,m,"k"); CUdeviceptr d; cuMemAlloc(&d,16);
    struct {unsigned a; CUdeviceptr p; unsigned b;} pr={5,d,6};
    for(size_t z=0;z<=64;z+=4){ size_t sz=z; char big[128]={0}; memcpy(big,&pr,sizeof pr); void*ex[]={CU_LAUNCH_PARAM_BUFFER_POINTER,big,CU_LAUNCH_PARAM_BUFFER_SIZE,&sz,CU_LAUNCH_PARAM_END}; int e=cuLaunchKernel(k,1,1,1,1,1,1,0,0,0,ex); unsigned r=0; int e2=cuCtxSynchronize(); cuMemcpyDtoH(&r,d,4); printf("extra %zu: %d %d %u\n",z,e,e2,r); if(e2) break; cuMemsetD32(d,0,1);}
    for(int a=0;a<16;a++){int x=-1;int e=cuFuncGetAttribute(&x,(CUfunction_attribute)a,k);printf("fattr %d %d %d\n",a,e,x);}
  }
}
