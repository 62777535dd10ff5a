import { hash, randomBytes } from 'node:crypto'

const md5 = (text: string): string => hash('md5', text)

/**
 * The answer to a challenge of HTTP digest authentication (RFC 7616, MD5 with qop=auth): all that monero-wallet-rpc knows.
 * Each connection has a challenge of its own there.
 */
export function answerChallenge(
  challenge: string,
  { user, password }: { user: string; password: string },
  path: string,
): string | null {
  const [nonce, realm] = [/nonce="([^"]*)"/.exec(challenge)?.[1], /realm="([^"]*)"/.exec(challenge)?.[1]]
  if (nonce === undefined || realm === undefined) return null
  const [count, own] = ['00000001', randomBytes(8).toString('hex')]
  const [who, what] = [md5(`${user}:${realm}:${password}`), md5(`POST:${path}`)]
  const response = md5(`${who}:${nonce}:${count}:${own}:auth:${what}`)
  return (
    `Digest username="${user}", realm="${realm}", nonce="${nonce}", uri="${path}", algorithm=MD5, ` +
    `qop=auth, nc=${count}, cnonce="${own}", response="${response}"`
  )
}
