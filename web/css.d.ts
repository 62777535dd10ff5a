declare module '*.css'
/** The minified text. */
declare module '*.css?inline' {
  const text: string
  // biome-ignore lint/style/noDefaultExport: the bundler's form
  export default text
}
