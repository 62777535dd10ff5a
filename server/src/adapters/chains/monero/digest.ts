import { hash, randomBytes } from 'node:crypto'

const md5 = (text: string): string => hash('md5', text)

/**
 * The answer to a challenge of HTTP digest authentication (RFC 7616, MD5 with qop=auth), the only method of
 * monero-wallet-rpc. It has a separate challenge for each connection.
 */
export function answerChallenge(
  challenge: string,
  { user, password }: { user: string; password: string },
  path: string,
): string | null {
  const [nonce, realm] = [/nonce="([^"]*)"/.exec(challenge)?.[1], /realm="([^"]*)"/.exec(challenge)?.[1]]
  if (nonce === undefined || realm === undefined) return null
  const [count, clientNonce] = ['00000001', randomBytes(8).toString('hex')]
  const [ha1, ha2] = [md5(`${user}:${realm}:${password}`), md5(`POST:${path}`)]
  const response = md5(`${ha1}:${nonce}:${count}:${clientNonce}:auth:${ha2}`)
  return (
    `Digest username="${user}", realm="${realm}", nonce="${nonce}", uri="${path}", algorithm=MD5, ` +
    `qop=auth, nc=${count}, cnonce="${clientNonce}", response="${response}"`
  )
}
