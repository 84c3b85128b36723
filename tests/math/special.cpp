// Measures the functions of dsl/src/sema/math_special.k (and expm1) against quadruple precision, range by range.
//
//     for part in double angle float float_angle float_gamma float_bessel special bessel; do sed 's/(int)n/to_int(n)/g' ../../dsl/library/math_$part.k > math_$part.k; done
//     g++ -std=gnu++17 -O2 -march=native -ffp-contract=off -fno-builtin -w -I. special.cpp -lquadmath -o special
//     ./special 300000              function and range, largest error in ulp, where
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <quadmath.h>
#include "host.h"
typedef __float128 quad;
static uint64_t st=88172645463325252ull; static double U(){st^=st<<13,st^=st>>7,st^=st<<17;return (st*2685821657736338717ull>>11)*0x1p-53;}
static double err(double got, quad want){ if(isnanq(want)||got!=got) return isnanq(want)&&got!=got?0:1e9; if (fabsq(want)>=scalbnq(1,1024)) return std::isinf(got)?0:1e9; if(want==0) return got==0?0:1e9; int e; frexpq(want,&e); if(e-53<-1074) e=-1074+53; return (double)(fabsq((quad)got-want)/scalbnq(1,e-53)); }
// tgamma in quad with reflection (libquadmath is fine)
static quad erfinvQ(quad x){ // Newton on quad from double
  double xd=(double)x; quad y= fabs(xd)<0.999? (quad)ours::erfinv(xd):(quad)ours::erfinv(xd); for(int i=0;i<4;i++){ quad a=fabsq(y); quad f= a<0.5? (erfq(y)-x) : (y>0? (1-x)-erfcq(y) : -((1+x)-erfcq(-y))); y-= f/(2/sqrtq(M_PIq)*expq(-y*y)); } return y; }
static quad erfcinvQ(quad c){ quad y=ours::erfcinv((double)c); for(int i=0;i<4;i++){ quad e=erfcq(y); if(y>1){ y+= (logq(e)-logq(c))*e/(2/sqrtq(M_PIq)*expq(-y*y)); } else y+=(e-c)/(2/sqrtq(M_PIq)*expq(-y*y)); } return y; }
static quad erfcxQ(quad x){ if(x<100) return expq(x*x)*erfcq(x); quad z=1/(x*x); return 1/(x*sqrtq(M_PIq))*(1-z/2+3*z*z/4-15*z*z*z/8+105*z*z*z*z/16); }
static quad normcdfQ(quad x){ return erfcq(-x/sqrtq(2))/2; }
static quad ncdfinvQ(quad p){ return -sqrtq(2)*erfcinvQ(2*p); }
int main(int c,char**v){ long n=c>1?atol(v[1]):20000;
 auto run=[&](const char*name,double(*f)(double),quad(*q)(quad),double(*pick)()){ double w=0,wx=0; for(long i=0;i<n;i++){ double x=pick(); double e=err(f(x),q(x)); if(e>w) w=e,wx=x; } printf("%-22s %8.3f at %a %.17g got %.17g\n",name,w,wx,wx,f(wx)); fflush(stdout); };
 run("expm1 wide",ours::expm1,expm1q,[]{return (U()-.5)*1490;}); run("expm1 3",ours::expm1,expm1q,[]{return (U()-.5)*6;}); run("expm1 60",ours::expm1,expm1q,[]{return U()*60;}); run("expm1 tiny",ours::expm1,expm1q,[]{return (U()<.5?-1:1)*std::exp2(-60*U());});
 run("tgamma 0..172",ours::tgamma,tgammaq,[]{return U()*172;});
 run("tgamma 0..12",ours::tgamma,tgammaq,[]{return U()*12;});
 run("tgamma -20..0",ours::tgamma,tgammaq,[]{return -U()*20;});
 run("tgamma -180..-20",ours::tgamma,tgammaq,[]{return -20-U()*160;});
 run("tgamma tiny",ours::tgamma,tgammaq,[]{return (U()<.5?-1:1)*std::exp2(-U()*1070);});
 run("lgamma 0..0.5",ours::lgamma,lgammaq,[]{return U()*.5;});
 run("lgamma 0.5..1.5",ours::lgamma,lgammaq,[]{return .5+U();});
 run("lgamma 1.5..2.5",ours::lgamma,lgammaq,[]{return 1.5+U();});
 run("lgamma 2.5..40",ours::lgamma,lgammaq,[]{return 2.5+U()*38;});
 run("lgamma big",ours::lgamma,lgammaq,[]{return std::exp2(U()*1010);});
 run("lgamma tiny",ours::lgamma,lgammaq,[]{return (U()<.5?-1:1)*std::exp2(-U()*1070);});
 run("lgamma -2.2..0",ours::lgamma,lgammaq,[]{return -U()*2.2;});
 run("lgamma -100..-11",ours::lgamma,lgammaq,[]{return -11.01-U()*90;});
 run("erfinv",ours::erfinv,erfinvQ,[]{return 2*U()-1;});
 run("erfinv near 1",ours::erfinv,erfinvQ,[]{return 1-std::exp2(-U()*52);});
 run("erfinv tiny",ours::erfinv,erfinvQ,[]{return std::exp2(-U()*600);});
 run("erfcinv 0..2",ours::erfcinv,erfcinvQ,[]{return 2*U();});
 run("erfcinv tiny",ours::erfcinv,erfcinvQ,[]{return std::exp2(-U()*1070);});
 run("erfcx -26..30",ours::erfcx,erfcxQ,[]{return -26+U()*56;});
 run("erfcx 0..3",ours::erfcx,erfcxQ,[]{return U()*3;});
 run("erfcx big",ours::erfcx,erfcxQ,[]{return std::exp2(U()*500);});
 run("normcdf -38..9",ours::normcdf,normcdfQ,[]{return -38+U()*47;});
 run("normcdf small",ours::normcdf,normcdfQ,[]{return (U()<.5?-1:1)*std::exp2(-U()*60);});
 run("normcdfinv",ours::normcdfinv,ncdfinvQ,[]{return U();});
 run("normcdfinv tiny",ours::normcdfinv,ncdfinvQ,[]{return std::exp2(-U()*1000);});
 auto P=[]{ return (U()-.5)*std::exp2((U()-.5)*2000);}; auto Q=[]{return U()-.5;};
 for(int big=0;big<2;big++){ double w[5]={0}; for(long i=0;i<n;i++){ double x=big?P():Q(),y=big?P():Q(),z=big?P():Q(),t=big?P():Q(); quad s3=(quad)x*x+(quad)y*y+(quad)z*z, s4=s3+(quad)t*t,s2=(quad)x*x+(quad)y*y; double e[5]={err(ours::norm3d(x,y,z),sqrtq(s3)),err(ours::norm4d(x,y,z,t),sqrtq(s4)),err(ours::rnorm3d(x,y,z),1/sqrtq(s3)),err(ours::rnorm4d(x,y,z,t),1/sqrtq(s4)),err(ours::rhypot(x,y),1/sqrtq(s2))}; for(int k=0;k<5;k++) if(e[k]>w[k]) w[k]=e[k]; } printf("norm3d %.3f norm4d %.3f rnorm3d %.3f rnorm4d %.3f rhypot %.3f\n",w[0],w[1],w[2],w[3],w[4]); }
 long bad=0; for(long i=0;i<n;i++){ double x=U()<.5?P():Q()*100,y=U()<.5?P():Q()*10; int q1,q2; double r1=ours::remquo(x,y,&q1),r2=::remquo(x,y,&q2); if(r1!=r2||std::signbit(r1)!=std::signbit(r2)||((q1^q2)&7)||(q1<0)!=(q2<0&&(q2&7)!=0? true: q1<0)) bad++; } printf("remquo bad %ld\n",bad);
 double sp[]={0.0,-0.0,INFINITY,-INFINITY,NAN,1,-1,2,0.5,171.7,-171.5,-184.5,-200.5}; for(double x:sp) printf("%g: tgamma %g (%g) lgamma %g (%g) erfinv %g erfcinv %g erfcx %g normcdf %g normcdfinv %g\n",x,ours::tgamma(x),::tgamma(x),ours::lgamma(x),::lgamma(x),ours::erfinv(x),ours::erfcinv(x),ours::erfcx(x),ours::normcdf(x),ours::normcdfinv(x)); }
