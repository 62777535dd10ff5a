/** The origin that served this script is the API's. Null if a page runs the script as a module, from another name. */
export function findScriptOrigin(page: Document): string | null {
  const { currentScript } = page
  const script =
    currentScript instanceof HTMLScriptElement && currentScript.src !== ''
      ? currentScript
      : page.querySelector<HTMLScriptElement>('script[src$="/widget.js"]')
  return script === null ? null : new URL(script.src, page.baseURI).origin
}
