import type { IncomingMessage } from 'node:http'

/**
 * Where a request comes from, with so many proxies of ours in front: the address that the outermost of them saw. As
 * Fastify's `request.ip` (its `trustProxy` is a count here, too).
 */
export function callerAddress(
  { socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>,
  trustedProxies: number,
): string | undefined {
  const forwarded = headers['x-forwarded-for']
  if (trustedProxies === 0 || typeof forwarded !== 'string') return socket.remoteAddress
  const addresses = forwarded.split(',').map((address) => address.trim())
  return addresses[Math.max(0, addresses.length - trustedProxies)]
}
