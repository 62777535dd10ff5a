import type { Hex } from 'viem'
import type { JsonRpc } from '../json-rpc.ts'
import type { EvmBank } from './evm-bank.ts'

export type PooledTransaction = Readonly<{ sender: string; nonce: number; raw: Hex }>

/**
 * Takes every waiting transaction out of the pool. Anvil would take those whose nonce a reorg leaves in the future for
 * ready ones, fail to execute them, and forget them.
 */
export async function drainTxpool(rpc: JsonRpc): Promise<PooledTransaction[]> {
  type Content = Record<'pending' | 'queued', Record<string, Record<string, { hash: Hex }>>>
  const content = (await rpc.call('txpool_content')) as Content
  const entries = [content.pending, content.queued].flatMap((part) =>
    Object.entries(part ?? {}).flatMap(([sender, byNonce]) =>
      Object.entries(byNonce).map(([nonce, { hash }]) => ({
        sender: sender.toLowerCase(),
        nonce: Number(nonce),
        hash,
      })),
    ),
  )
  if (entries.length === 0) return []
  const raws = await rpc.batch(entries.map(({ hash }) => ['eth_getRawTransactionByHash', [hash]] as const))
  await rpc.call('anvil_dropAllTransactions')
  return entries.flatMap(({ sender, nonce }, index) =>
    raws[index] ? [{ sender, nonce, raw: raws[index] as Hex }] : [],
  )
}

/**
 * Offers them again, lowest nonce first. The bank's would wait for ever for the nonces that the reorg took back: empty
 * payments take those.
 */
export async function refillTxpool(
  rpc: JsonRpc,
  transactions: readonly PooledTransaction[],
  bank: EvmBank,
): Promise<void> {
  const bankNonces = transactions
    .filter(({ sender }) => sender === bank.address.toLowerCase())
    .map(({ nonce }) => nonce)
  if (bankNonces.length > 0) {
    const next = Number(await rpc.call('eth_getTransactionCount', [bank.address, 'latest']))
    for (let nonce = next; nonce < Math.max(...bankNonces); nonce++) {
      if (!bankNonces.includes(nonce)) await bank.fillNonce(`0x${nonce.toString(16)}`)
    }
  }
  for (const { raw } of [...transactions].sort((a, b) => a.nonce - b.nonce)) {
    // It may pay for coins that are gone with the reorg.
    await rpc.call('eth_sendRawTransaction', [raw]).catch(() => undefined)
  }
}
