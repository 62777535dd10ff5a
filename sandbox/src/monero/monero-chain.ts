import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pLimit from 'p-limit'
import { formatUnits, parseUnits } from '../amount.ts'
import type { Children } from '../children.ts'
import { moneroBank } from '../keys.ts'
import type { LocalChain, Tip } from '../local-chain.ts'
import { Refusal } from '../refusal.ts'
import { type Start, type Started, startMonerod, startWalletRpc } from './monero-nodes.ts'
import { MoneroError, type MoneroRpc } from './monero-rpc.ts'

/** Rewards ripen for 60 blocks, and a ring wants 16 outputs to choose among: the first 240 rewards can be spent at once. */
export const preparedBlocks = 300
const blocksAtOnce = 10
/** Answers of a daemon that makes no block, until it is believed. */
const refusalsMax = 3
const offeredLooks = 100
const offeredLookMs = 20
const decimals = 12
/** RandomX takes a tenth of a second of one core for a block. */
const quietAfterMs = 60_000
/** How long a start has the processor without RandomX, and without the bank unless somebody asks it. */
const aloneMs = 5000

export type MoneroPrograms = Readonly<{ monerod: string; wallet: string }>

type Options = Readonly<{
  programs: MoneroPrograms
  folder: string
  /** `restricted`: where the daemon answers as those of others do. */
  ports: Readonly<{ daemon: number; wallet: number; restricted?: number }>
  children: Children
  onEnd: (why: string) => void
}>

/** The controls of Monero's regtest. The bank is a wallet with public keys; recipients that are asked for are its accounts. */
export async function createMoneroChain(options: Options): Promise<LocalChain> {
  const { programs, folder, ports, children, onEnd } = options
  const shared = { children, onEnd }
  const daemon = await startMonerod({
    ...shared,
    program: programs.monerod,
    folder,
    port: ports.daemon,
    ...(ports.restricted === undefined ? {} : { restrictedPort: ports.restricted }),
  })
  const height = await heightOf(daemon.rpc)
  if (height < preparedBlocks) await generate(daemon.rpc, preparedBlocks - height)
  const bank = createBank(
    { ...shared, program: programs.wallet, folder: join(folder, 'bank'), port: ports.wallet },
    ports.daemon,
  )
  const exclusively = pLimit(1)
  const withBank = <T>(work: (wallet: MoneroRpc) => Promise<T>) =>
    exclusively(async () => work((await bank.open()).rpc))
  const { release_version: version = '' } = (await daemon.rpc.call('get_version')) as { release_version?: string }

  return {
    network: 'xmr',
    family: 'monero',
    client: `monerod 0.18 ${version}`.trim(),
    rpcUrls: [`http://127.0.0.1:${ports.daemon}`],
    tokens: {},
    quietAfterMs,
    // A first start waits for its coins.
    ...(bank.isNew ? {} : { firstBlockAfterMs: aloneMs }),
    createWallet: async () => {
      const { address } = await withBank((wallet) => wallet.call('create_account'))
      return { network: 'xmr', address: String(address), memo: null, privateKey: moneroBank.spendKey }
    },
    async deposit({ currency, address, amount }) {
      requireCoin(currency)
      const units = parseUnits(amount, decimals)
      if (units === 0n) throw new Refusal(400, 'AMOUNT_TOO_SMALL', 'the amount is zero')
      return withBank((wallet) => pay(wallet, address, units)).catch(refuse)
    },
    async balance({ currency, address }) {
      requireCoin(currency)
      return withBank((wallet) => balanceOf(wallet, address)).catch(refuse)
    },
    mine: (count) =>
      exclusively(async () => {
        await untilOffered(daemon.rpc)
        return generate(daemon.rpc, count)
      }),
    reorganize: (depth, { drop }) => exclusively(() => reorganize(daemon.rpc, depth, drop)).catch(refuse),
    waiting: async () => Number((await daemon.rpc.call('get_info'))['tx_pool_size']),
    async stop() {
      await exclusively(async () => undefined)
      await bank.stop()
      await daemon.stop()
    },
  }
}

const requireCoin = (currency: string) => {
  if (currency === 'native' || currency === 'xmr') return
  throw new Refusal(404, 'CURRENCY_NOT_FOUND', `xmr has no currency "${currency.slice(0, 40)}" in the sandbox`)
}

/** The block of the top, whose number is one less than how many there are. */
async function heightOf(daemon: MoneroRpc): Promise<number> {
  return Number((await daemon.call('get_block_count'))['count']) - 1
}

/** A daemon mines what it offered to its peers, also where it has none: a moment after it took it in. */
async function untilOffered(daemon: MoneroRpc): Promise<void> {
  type Waiting = Readonly<{ do_not_relay: boolean; last_relayed_time: number }>
  for (let looks = 0; looks < offeredLooks; looks++) {
    const { transactions = [] } = (await daemon.post('/get_transaction_pool', {})) as { transactions?: Waiting[] }
    if (transactions.every((one) => one.do_not_relay || one.last_relayed_time > 0)) return
    await delay(offeredLookMs)
  }
}

/** Rewards are the bank's, under fresh keys: two branches never have the same block. */
export async function generate(daemon: MoneroRpc, count: number): Promise<Tip> {
  let height = await heightOf(daemon)
  const target = height + count
  let refusals = 0
  while (height < target) {
    // A busy machine takes a second for a block.
    const amount = Math.min(target - height, blocksAtOnce)
    try {
      await daemon.call('generateblocks', { amount_of_blocks: amount, wallet_address: moneroBank.address })
    } catch (error) {
      // Its pool changed under the block that it was making.
      if (!(error instanceof MoneroError) || ++refusals > refusalsMax) throw error
    }
    height = await heightOf(daemon)
  }
  return tipOf(daemon)
}

async function tipOf(daemon: MoneroRpc): Promise<Tip> {
  const { block_header: top } = await daemon.call('get_last_block_header')
  const { height, hash } = top as { height: number; hash: string }
  return { height, hash }
}

/**
 * Nobody waits for the bank but who asks it: it takes longer to open than all other chains to start, so it opens a while
 * after them. Where it was never opened before, it is about to be asked.
 */
function createBank(start: Start, daemonPort: number) {
  const isNew = !existsSync(join(start.folder, 'bank.keys'))
  let opened: Promise<Started> | undefined
  const open = () => {
    clearTimeout(timer)
    if (opened) return opened
    opened = startWalletRpc(start, daemonPort).then(async (wallet) => {
      await openBank(wallet.rpc, isNew)
      return wallet
    })
    opened.catch((error: Error) => start.onEnd(`has no bank: ${error.message}`))
    return opened
  }
  const timer = setTimeout(open, isNew ? 0 : aloneMs)
  return {
    isNew,
    open,
    async stop() {
      clearTimeout(timer)
      await opened?.then(
        (wallet) => wallet.stop(),
        () => undefined,
      )
    },
  }
}

async function openBank(wallet: MoneroRpc, isNew: boolean): Promise<void> {
  const { address, viewKey, spendKey } = moneroBank
  if (isNew)
    await wallet.call('generate_from_keys', {
      filename: 'bank',
      address,
      viewkey: viewKey,
      spendkey: spendKey,
      password: '',
      restore_height: 0,
    })
  else await wallet.call('open_wallet', { filename: 'bank', password: '' })
  await wallet.call('refresh')
}

async function pay(wallet: MoneroRpc, address: string, units: bigint): Promise<string> {
  await wallet.call('refresh')
  const { valid } = await wallet.call('validate_address', { address })
  if (valid !== true)
    throw new Refusal(400, 'INVALID_ADDRESS', `"${address.slice(0, 120)}" is no address of xmr in the sandbox`)
  const transfer = () => wallet.call('transfer', { destinations: [{ address, amount: units }], account_index: 0 })
  const sent = await transfer().catch(async (error: unknown) => {
    // After a reorganisation the wallet may have the outputs of blocks that are gone under their old numbers.
    if (!(error instanceof MoneroError && error.message.includes('requested real output'))) throw error
    await wallet.call('rescan_blockchain')
    return transfer()
  })
  return String(sent['tx_hash'])
}

/** Of an account of the bank's wallet: nobody can see what others' addresses received. */
async function balanceOf(wallet: MoneroRpc, address: string): Promise<string> {
  await wallet.call('refresh')
  const { index } = (await wallet.call('get_address_index', { address })) as { index: { major: number } }
  const { balance } = await wallet.call('get_balance', { account_index: index.major })
  return formatUnits(BigInt(balance as number | bigint), decimals)
}

/**
 * On a network the longer branch is there at once. Here it is mined block by block, and monerod never again mines what it
 * found too young for one of the first: so what waits is taken out of the pool, and offered again when all blocks are there.
 */
async function reorganize(daemon: MoneroRpc, depth: number, drop: boolean): Promise<Tip> {
  const top = await heightOf(daemon)
  if (top - depth < preparedBlocks)
    throw new Refusal(409, 'REORG_TOO_DEEP', `only ${top - preparedBlocks} blocks can be replaced so far`)
  const inBlocks = await transactionsSince(daemon, top - depth + 1)
  const { tx_hashes: inPool = [] } = (await daemon.post('/get_transaction_pool_hashes', {})) as { tx_hashes?: string[] }
  const offered = await rawOf(daemon, drop ? inPool : [...inPool, ...inBlocks])
  await daemon.post('/pop_blocks', { nblocks: depth })
  const removed = [...inPool, ...inBlocks]
  if (removed.length > 0) await daemon.call('flush_txpool', { txids: removed })
  const tip = await generate(daemon, depth + 1)
  // Refused where its ring names outputs that are gone.
  for (const raw of offered) await daemon.post('/send_raw_transaction', { tx_as_hex: raw })
  return tip
}

async function rawOf(daemon: MoneroRpc, hashes: readonly string[]): Promise<readonly string[]> {
  if (hashes.length === 0) return []
  const { txs = [] } = (await daemon.post('/get_transactions', { txs_hashes: hashes })) as {
    txs?: { as_hex: string }[]
  }
  return txs.map(({ as_hex: raw }) => raw)
}

async function transactionsSince(daemon: MoneroRpc, from: number): Promise<readonly string[]> {
  const hashes: string[] = []
  for (let height = from; height <= (await heightOf(daemon)); height++) {
    const { tx_hashes: some = [] } = (await daemon.call('get_block', { height })) as { tx_hashes?: string[] }
    hashes.push(...some)
  }
  return hashes
}

function refuse(error: unknown): never {
  if (error instanceof MoneroError) throw new Refusal(409, 'NODE_REFUSED', `the node refused: ${error.message}`, error)
  throw error
}
