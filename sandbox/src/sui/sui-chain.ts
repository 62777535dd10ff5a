/* The simulated Sui node as a chain of the sandbox. */
import { join } from 'node:path'
import { SuiGrpcClient } from '@mysten/sui/grpc'
import { Ed25519Keypair } from '@mysten/sui/keypairs/ed25519'
import { Transaction } from '@mysten/sui/transactions'
import { isValidSuiAddress, normalizeSuiAddress } from '@mysten/sui/utils'
import { formatUnits, parseUnits } from '../amount.ts'
import { ControlError, currencyNotFound, invalidAddress } from '../control-error.ts'
import type { LocalChain } from '../local-chain.ts'
import { createSavedState } from '../saved-state.ts'
import type { Clock } from './clock.ts'
import { type SuiCoin, suiCoin, suiTokens } from './coins.ts'
import { createSuiMarket, describeDexes, dexFunctions, type SuiMarket } from './market.ts'
import { type SavedNode, type SuiNode, startSuiNode } from './sui-node.ts'
import type { SuiObject } from './sui-object.ts'
import { createSuiTrader } from './sui-trader.ts'

const network = 'sui'

/** The sandbox decides when a checkpoint is made. */
const clock: Clock = { now: Date.now, every: () => () => undefined }

function findCoin(currency: string): SuiCoin {
  if (currency === 'native' || currency === suiCoin.ticker) return suiCoin
  const token = suiTokens.find(({ ticker }) => ticker === currency)
  if (token === undefined) throw currencyNotFound(network, currency)
  return token
}

function parseAddress(text: string): string {
  if (!/^0x[0-9a-fA-F]{64}$/.test(text) || !isValidSuiAddress(text.toLowerCase())) throw invalidAddress(network, text)
  return normalizeSuiAddress(text)
}

const refOf = ({ id: objectId, version, digest }: SuiObject) => ({ objectId, version: version.toString(), digest })

/** MIST: more than a transfer costs. */
const transferBudget = 10_000_000n
/** MIST per computation unit: the reference price of the node. */
const gasPrice = 1_000n

/** Pays from an account whose coins are minted when they are needed. */
function createBank(node: SuiNode) {
  const keypair = Ed25519Keypair.generate()
  const bank = keypair.toSuiAddress()
  const client = new SuiGrpcClient({ network: 'localnet', baseUrl: node.url })
  /** Returns the digest of the transfer. */
  return async (recipient: string, units: bigint, coinType: string): Promise<string> => {
    const transaction = new Transaction()
    transaction.setSender(bank)
    transaction.setGasPayment([refOf(node.mint(bank, transferBudget))])
    transaction.setGasBudget(transferBudget)
    transaction.setGasPrice(gasPrice)
    transaction.transferObjects([transaction.objectRef(refOf(node.mint(bank, units, coinType)))], recipient)
    const { Transaction: executed } = await client.signAndExecuteTransaction({ transaction, signer: keypair })
    if (executed === undefined) throw new Error('the transfer of the bank failed')
    return executed.digest
  }
}

type SavedChain = Readonly<{ node: SavedNode; market: SuiMarket }>

/** Continues the chain of the last run. */
export async function createSuiChain(
  folder: string,
  port: number,
  { isFrozen }: Readonly<{ isFrozen: boolean }>,
): Promise<LocalChain> {
  const savedState = createSavedState<SavedChain>({ network, path: join(folder, 'chain.bin'), version: 4 })
  const saved = savedState.read()
  const node = await startSuiNode({
    ...{ port, clock, functions: dexFunctions },
    ...(saved === null ? {} : { saved: saved.node }),
  })
  const market = saved?.market ?? createSuiMarket(node)
  const trader = createSuiTrader(node, market, isFrozen)
  const pay = createBank(node)
  const kept = savedState.keep(
    () => ({ node: node.save(), market }),
    () => `${node.readTip().hash} ${node.countPending()}`,
  )
  return {
    network,
    family: 'sui',
    client: 'simulated Sui node',
    rpcUrls: [node.url],
    // No currency of the exchange; its tokens are those of the market.
    tokens: {},
    market: {
      ...{ wrapped: suiCoin.type, coinIsToken: false, contracts: {} },
      hubs: suiTokens.slice(0, 1).map(({ type }) => type),
      dexes: describeDexes(market),
      defiTokens: suiTokens.map(({ type, symbol, name, decimals }) => ({ address: type, symbol, name, decimals })),
    },
    createWallet() {
      const keypair = Ed25519Keypair.generate()
      return { network, address: keypair.toSuiAddress(), memo: null, privateKey: keypair.getSecretKey() }
    },
    async deposit({ currency, address, amount }) {
      const coin = findCoin(currency)
      const units = parseUnits(amount, coin.decimals)
      if (units === 0n) throw new ControlError(400, 'AMOUNT_TOO_SMALL', 'the amount is zero')
      return pay(parseAddress(address), units, coin.type)
    },
    async readBalance({ currency, address }) {
      const coin = findCoin(currency)
      return formatUnits(node.readBalance(parseAddress(address), coin.type), coin.decimals)
    },
    async mine(count) {
      node.addCheckpoints(count)
      return node.readTip()
    },
    trade: () => trader.trade(),
    reorganize: async () => {
      throw new ControlError(409, 'REORG_TOO_DEEP', 'a checkpoint of Sui is final: none can be replaced')
    },
    countPending: async () => node.countPending(),
    async stop() {
      kept.stop()
      await node.stop()
    },
  }
}
