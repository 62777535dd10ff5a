import { type Hex, numberToHex } from 'viem'
import type { JsonRpc } from '../json-rpc.ts'
import type { EvmBank } from './evm-bank.ts'

export type PooledTransaction = Readonly<{ sender: string; nonce: number; raw: Hex }>

/**
 * Removes all transactions from the txpool and returns them. After a reorg anvil treats transactions with a future
 * nonce as executable, fails to execute them and drops them.
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
 * Sends the transactions again, lowest nonce first. Zero-value payments fill the bank's nonces that the reorg freed;
 * without them its later transactions would never be mined.
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
      if (!bankNonces.includes(nonce)) await bank.fillNonce(numberToHex(nonce))
    }
  }
  for (const { raw } of [...transactions].sort((a, b) => a.nonce - b.nonce)) {
    // The reorg may have removed the funds that it spends.
    await rpc.call('eth_sendRawTransaction', [raw]).catch(() => undefined)
  }
}
