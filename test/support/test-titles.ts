/** Whether a test of this source has the id in its title. A test in a comment, or one that is skipped, does not count. */
export const hasTestOf = (id: string, source: string): boolean =>
  [...source.matchAll(/^ *(?:test|it|testRow)(?:\.each\([^)]*\))?\(\s*(['"`])(.*?)\1/gm)].some(([, , title = '']) =>
    new RegExp(`\\b${id}\\b`).test(title),
  )
