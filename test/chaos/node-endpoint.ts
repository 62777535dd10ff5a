/** A node's URL and headers. The password is a header, because `fetch` rejects a URL that contains one. */
export type NodeEndpoint = Readonly<{ url: string; headers: Readonly<Record<string, string>> }>

export function nodeEndpoint(rpcUrl: string): NodeEndpoint {
  const { username, password, host } = new URL(rpcUrl)
  const login =
    username === '' ? {} : { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` }
  return { url: `http://${host}/`, headers: { 'content-type': 'application/json', ...login } }
}
