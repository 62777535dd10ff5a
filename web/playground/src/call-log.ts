/** One call of the API as the page made it. Repeats of a read are one entry. */
export type Call = Readonly<{
  id: number
  method: string
  /** With the query. */
  path: string
  /** JSON as it was sent; null without a body. */
  request: string | null
  /** null while the answer is awaited, and if there was none. */
  status: number | null
  /** JSON or XML; null while the answer is awaited. */
  response: string | null
  elapsedMs: number | null
  count: number
  at: Date
}>

export type CallLog = Readonly<{
  /** The newest first. The same array until something changes. */
  read(): readonly Call[]
  subscribe(listener: () => void): () => void
  clear(): void
  /** `fetch` of the platform, which notes every call. */
  fetch: typeof fetch
}>

const CALLS_MAX = 200

export function createCallLog(): CallLog {
  let calls: readonly Call[] = []
  let lastId = 0
  const listeners = new Set<() => void>()
  const replace = (next: readonly Call[]) => {
    calls = next.slice(0, CALLS_MAX)
    for (const listener of listeners) listener()
  }
  const change = (id: number, changes: Partial<Call>) =>
    replace(calls.map((call) => (call.id === id ? { ...call, ...changes } : call)))

  const begin = (method: string, path: string, request: string | null): number => {
    const repeated = method === 'GET' ? calls.find((call) => call.method === method && call.path === path) : undefined
    if (repeated !== undefined) {
      change(repeated.id, { count: repeated.count + 1, at: new Date() })
      return repeated.id
    }
    const id = ++lastId
    const pending = { status: null, response: null, elapsedMs: null, count: 1, at: new Date() }
    replace([{ id, method, path, request, ...pending }, ...calls])
    return id
  }

  return {
    read: () => calls,
    subscribe: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    clear: () => replace([]),
    fetch: async (input, init) => {
      const { pathname, search } = new URL(String(input), location.href)
      const id = begin(init?.method ?? 'GET', pathname + search, typeof init?.body === 'string' ? init.body : null)
      const startedAt = performance.now()
      const elapse = () => Math.round(performance.now() - startedAt)
      try {
        const response = await fetch(input, init)
        const text = await response.clone().text()
        change(id, { status: response.status, response: text, elapsedMs: elapse() })
        return response
      } catch (error) {
        if (!init?.signal?.aborted) change(id, { status: null, response: String(error), elapsedMs: elapse() })
        throw error
      }
    },
  }
}

/** The call as a command for a shell. */
export function toCurl({ method, path, request }: Call, origin: string, apiKey: string): string {
  const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
  const headers = [`x-api-key: ${apiKey}`, ...(request === null ? [] : ['content-type: application/json'])]
  return [
    'curl',
    ...(method === 'GET' || method === 'POST' ? [] : [`-X ${method}`]),
    ...headers.map((header) => `-H ${quote(header)}`),
    ...(request === null ? [] : [`-d ${quote(request)}`]),
    quote(origin + path),
  ].join(' ')
}
