/** Where a node is reached: its URL, or its URL and the headers of every request, such as a provider's key. */
export type NodeEndpoint = string | Readonly<{ url: string; headers: Readonly<Record<string, string>> }>

export const urlOf = (endpoint: NodeEndpoint): string => (typeof endpoint === 'string' ? endpoint : endpoint.url)

/** The headers of every request to the node. User and password in its URL are sent as basic authentication (RFC 7617). */
export function headersOf(endpoint: NodeEndpoint): Readonly<Record<string, string>> {
  const own = typeof endpoint === 'string' ? {} : endpoint.headers
  return { ...basicAuthentication(new URL(urlOf(endpoint))), ...own }
}

function basicAuthentication({ username, password }: URL): { authorization?: string } {
  if (username === '' && password === '') return {}
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` }
}
