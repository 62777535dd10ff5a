export const heapEnvironment: Readonly<Record<string, string>>
export function heapFlags(given?: string): string[]
