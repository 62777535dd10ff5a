/** An error answer of the admin API. `status` 0: the server was not reached. */
export class ApiError extends Error {
  readonly status: number
  readonly code: string
  readonly requestId: string | null
  /** Problems by field of the body. */
  readonly problems: readonly Problem[]
  constructor(status: number, { message, code, requestId, errors }: ErrorBody) {
    super(message ?? `The server answered ${status}.`)
    this.status = status
    this.code = code ?? 'UNKNOWN'
    this.requestId = requestId ?? null
    this.problems = errors ?? []
  }
}

type Problem = Readonly<{ field?: string; message?: string }>
type ErrorBody = Readonly<{ message?: string; code?: string; requestId?: string; errors?: readonly Problem[] }>

const unreachable = () =>
  new ApiError(0, { code: 'UNREACHABLE', message: 'The server does not answer. Check your connection and try again.' })

/** Members without a value are left out. */
export type Query = Readonly<Record<string, string | null | undefined>>

/** The CSRF token of the session; api/session.ts sets it. */
let csrf = ''
export function setCsrf(token: string): void {
  csrf = token
}

type Confirm = () => Promise<boolean>
let confirm: Confirm = async () => false
/** Sets what asks for a second factor. It resolves to false if the operator cancels. */
export function setConfirm(ask: Confirm): void {
  confirm = ask
}

async function send<Answer>(path: string, options: RequestInit): Promise<Answer> {
  const response = await fetch(path, { ...options, credentials: 'same-origin', cache: 'no-store' }).catch(() => {
    throw unreachable()
  })
  const body = await response.json().catch(() => ({}))
  if (!response.ok) throw new ApiError(response.status, body as ErrorBody)
  return body as Answer
}

export function get<Answer>(path: string, query: Query = {}, signal: AbortSignal | null = null): Promise<Answer> {
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]))
  const search = given.length > 0 ? `?${new URLSearchParams(given)}` : ''
  return send<Answer>(`${path}${search}`, { signal })
}

/** Posts, and once more after a second factor where the API asks for one. */
export async function post<Answer>(path: string, body: object = {}): Promise<Answer> {
  try {
    return await postOnce<Answer>(path, body)
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'CONFIRMATION_REQUIRED' || !(await confirm())) throw error
    return postOnce<Answer>(path, body)
  }
}

export const postOnce = <Answer>(path: string, body: object = {}): Promise<Answer> =>
  send<Answer>(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-swapyard-csrf': csrf },
    body: JSON.stringify(body),
  })
