import type { FileConfig } from './file.ts'
import { isLoopback } from './loopback.ts'

/** Monero's wallet trusts its daemon, the first one: no other machine may answer in its place. */
export function findRemoteDaemons(
  source: string,
  { networks, monero: { acceptRemoteDaemons } }: Pick<FileConfig, 'networks' | 'monero'>,
): readonly string[] {
  if (acceptRemoteDaemons) return []
  return (networks.get('xmr')?.rpcUrls ?? []).flatMap((text, n) => {
    const { hostname, protocol } = new URL(text)
    if (isLoopback(hostname) || (n > 0 && protocol === 'https:')) return []
    const problem = n === 0 ? 'the daemon that the wallet trusts is on another machine' : 'it is remote and not HTTPS'
    return [`${source}: networks.xmr.rpcUrls.${n}: ${problem}; accept this with monero.acceptRemoteDaemons`]
  })
}
