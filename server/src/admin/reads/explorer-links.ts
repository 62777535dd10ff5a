import type { Live } from './read.ts'

/** URL of a transaction or an address at the explorer of its network; null without one. */
export function explorerUrl(
  live: Pick<Live, 'networks' | 'publicUrl'> | null,
  network: string,
  kind: 'tx' | 'address',
  text: string,
): string | null {
  const found = live?.networks.find(({ id }) => id === network)
  if (!live || !found) return null
  const template = kind === 'tx' ? found.txExplorer : found.addressExplorer
  const url = template.replace('{}', encodeURIComponent(text))
  return url.startsWith('/') ? `${live.publicUrl}${url}` : url
}
