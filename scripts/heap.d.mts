export const heapEnvironment: Readonly<Record<string, string>>
export function heapFlags(nodeOptions?: string): string[]
export const privacyFlags: readonly string[]
