// The message has the place in the file.
dslc::include_kernel!(mod k = "kernels/two.k"); //~ 31 kernels/two.k:4:24; 31 kernels/two.k:5:5
dslc::include_kernel!(mod gone = "kernels/gone.k"); //~ 34 there is no such file
