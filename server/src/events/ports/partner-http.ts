/** Status of the answer, or why none came. */
export type PostResult = Readonly<{ status: number | null; error: string | null }>

/** HTTP to addresses that partners name. */
export interface PartnerHttp {
  /** Why this URL must not be called; null = it may be. Resolves its host. */
  findProblem(url: string): Promise<string | null>
  /** Never throws. Checks every address that it connects to, follows no redirect, and is bounded in time and size. */
  post(url: string, headers: Readonly<Record<string, string>>, body: string): Promise<PostResult>
}

/** Encrypts secrets with a key that no database holds. `owner` binds a secret to its row. */
export interface WebhookSecrets {
  seal(owner: string, secret: string): Buffer
  /** Throws if it was sealed with another key or for another owner. */
  open(owner: string, sealed: Buffer): string
}

export interface Mailer {
  send(mail: Readonly<{ id: string; recipient: string; subject: string; body: string }>): Promise<void>
}
