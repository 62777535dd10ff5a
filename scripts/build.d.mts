export const builds: readonly Readonly<{ script: string; stamp: string; sources: readonly string[] }>[]
export function buildOutdated(root: string, node: string): Promise<void>
