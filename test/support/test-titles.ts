/** Whether a test of this source has the id in its title. A test in a comment does not count, nor one that a build server may skip. */
export const hasTestOf = (id: string, source: string): boolean =>
  [
    ...source.matchAll(
      /^ *(?:test|it|testRow)(?:\.each\([^)]*\)|\.skipIf\([^)]*!isBuildServer\))?\(\s*(['"`])(.*?)\1/gm,
    ),
  ].some(([, , title = '']) => new RegExp(`\\b${id}\\b`).test(title))
