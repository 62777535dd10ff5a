export function buildOutdated(root: string, node: string): Promise<void>
