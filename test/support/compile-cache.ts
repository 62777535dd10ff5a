/** Environment variable that passes Node's compile cache on to processes under test, if the test run has one. */
export const compileCache: Readonly<Record<string, string>> =
  process.env['NODE_COMPILE_CACHE'] === undefined ? {} : { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] }
