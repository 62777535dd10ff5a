import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { ListedToken, TokenLists } from '../../swap/ports/token-lists.ts'

/** Lists that their projects publish as packages, in the format of tokenlists.org. The first that knows a token names it. */
const files = [
  new URL('build/uniswap-default.tokenlist.json', import.meta.resolve('@uniswap/default-token-list/package.json')),
  new URL('build/sushiswap-default.tokenlist.json', import.meta.resolve('@sushiswap/default-token-list/package.json')),
]

const require = createRequire(import.meta.url)

const ADDRESS = /^0x[0-9a-fA-F]{40}$/
/** Stands for a network's coin, which is no token. */
const COIN = `0x${'0'.repeat(40)}`
const ICON = /^https:\/\/[^\s"'<>\\]{1,500}$/
const IPFS = /^ipfs:\/\/([A-Za-z0-9][A-Za-z0-9./_-]{1,500})$/
const NAME_MAX = 64
const SYMBOL_MAX = 32
const DECIMALS_MAX = 36

/** Read when the first of them is asked for. */
export function createPackageLists(): TokenLists {
  let read: ReadonlyMap<number, readonly ListedToken[]> | null = null
  return {
    list(chainId) {
      read ??= readAll()
      return read.get(chainId) ?? []
    },
  }
}

function readAll(): ReadonlyMap<number, readonly ListedToken[]> {
  const chains = new Map<number, Map<string, ListedToken>>()
  const published = files.flatMap((file) => entriesOf(JSON.parse(readFileSync(file, 'utf8'))))
  for (const entry of [...published, ...coinsOf()]) {
    const found = toToken(entry)
    if (found === null) continue
    const tokens = chains.get(found.chainId) ?? new Map<string, ListedToken>()
    chains.set(found.chainId, tokens)
    if (!tokens.has(found.token.address)) tokens.set(found.token.address, found.token)
  }
  return new Map([...chains].map(([chainId, tokens]) => [chainId, [...tokens.values()]]))
}

function entriesOf(list: unknown): readonly unknown[] {
  const tokens: unknown = typeof list === 'object' && list !== null && 'tokens' in list ? list.tokens : null
  return Array.isArray(tokens) ? tokens : []
}

/**
 * What LI.FI's programs offer, which has Sei and Sonic, and the dollars of Linea: a module, not a file, loaded when a list is
 * asked for. A renamed token stands there under both names, the newer one last: from the end, it is the one that counts.
 */
function coinsOf(): readonly unknown[] {
  const { defaultCoins, wrappedTokens }: typeof import('@lifi/data-types') = require('@lifi/data-types')
  const coins = defaultCoins.flatMap(({ chains }) => Object.values(chains))
  return [...Object.values(wrappedTokens), ...coins.reverse()]
}

type Entry = Readonly<Record<'chainId' | 'address' | 'name' | 'symbol' | 'decimals' | 'logoURI', unknown>>

/** A published list is somebody else's text: what is not as it should be is passed over. */
function toToken(entry: unknown): { chainId: number; token: ListedToken } | null {
  if (typeof entry !== 'object' || entry === null) return null
  const { chainId, address, name, symbol, decimals, logoURI } = entry as Partial<Entry>
  if (typeof chainId !== 'number' || typeof address !== 'string' || !ADDRESS.test(address)) return null
  if (address === COIN) return null
  if (typeof decimals !== 'number' || !Number.isInteger(decimals) || decimals < 0 || decimals > DECIMALS_MAX)
    return null
  const [own, long] = [plain(symbol, SYMBOL_MAX), plain(name, NAME_MAX)]
  if (own === null || long === null) return null
  const token = { address: address.toLowerCase(), name: long, symbol: own, decimals, icon: iconOf(logoURI) }
  return { chainId, token }
}

/** Printable and not too long. */
function plain(text: unknown, most: number): string | null {
  if (typeof text !== 'string') return null
  const clean = text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '').trim()
  return clean === '' ? null : [...clean].slice(0, most).join('')
}

function iconOf(uri: unknown): string | null {
  if (typeof uri !== 'string') return null
  if (ICON.test(uri)) return uri
  const [, path] = IPFS.exec(uri) ?? []
  return path === undefined ? null : `https://ipfs.io/ipfs/${path}`
}
