#ifdef __cplusplus
extern "C" {
#endif
typedef int (*transform_fn)(float *data, int n, float by);
int plugin_transform(float *data, int n, float by);
const char *plugin_name(void);
#ifdef __cplusplus
}
#endif
