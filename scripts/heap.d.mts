export function heapFlags(given?: string): string[]
