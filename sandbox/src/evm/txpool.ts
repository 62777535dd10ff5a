import type { Hex } from 'viem'
import type { JsonRpc } from '../json-rpc.ts'
import type { EvmBank } from './evm-bank.ts'

export type Pooled = Readonly<{ sender: string; nonce: number; raw: Hex }>

/**
 * Takes every waiting transaction out of the pool. Anvil would take those whose nonce a reorg leaves in the future for
 * ready ones, fail to execute them, and forget them.
 */
export async function takeOut(rpc: JsonRpc): Promise<Pooled[]> {
  type Content = Record<'pending' | 'queued', Record<string, Record<string, { hash: Hex }>>>
  const content = (await rpc.call('txpool_content')) as Content
  const found = [content.pending, content.queued].flatMap((part) =>
    Object.entries(part ?? {}).flatMap(([sender, byNonce]) =>
      Object.entries(byNonce).map(([nonce, { hash }]) => ({
        sender: sender.toLowerCase(),
        nonce: Number(nonce),
        hash,
      })),
    ),
  )
  if (found.length === 0) return []
  const raws = await rpc.batch(found.map(({ hash }) => ['eth_getRawTransactionByHash', [hash]] as const))
  await rpc.call('anvil_dropAllTransactions')
  return found.flatMap(({ sender, nonce }, at) => (raws[at] ? [{ sender, nonce, raw: raws[at] as Hex }] : []))
}

/**
 * Offers them again, lowest nonce first. The bank's would wait for ever for the nonces that the reorg took back: empty
 * payments take those.
 */
export async function putBack(rpc: JsonRpc, waiting: readonly Pooled[], bank: EvmBank): Promise<void> {
  const own = waiting.filter(({ sender }) => sender === bank.address.toLowerCase()).map(({ nonce }) => nonce)
  if (own.length > 0) {
    const next = Number(await rpc.call('eth_getTransactionCount', [bank.address, 'latest']))
    for (let nonce = next; nonce < Math.max(...own); nonce++) {
      if (!own.includes(nonce)) await bank.fill(`0x${nonce.toString(16)}`)
    }
  }
  for (const { raw } of [...waiting].sort((a, b) => a.nonce - b.nonce)) {
    // It may pay for coins that are gone with the reorg.
    await rpc.call('eth_sendRawTransaction', [raw]).catch(() => undefined)
  }
}
