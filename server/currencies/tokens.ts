import type { CurrencyDefinition } from '../src/core/domain/currency.ts'
import { defineToken } from './define-currency.ts'

/** All other tokens. Each is one asset of its network; none rebases or takes a fee of a transfer. */
export const tokens: readonly CurrencyDefinition[] = [
  ...defineToken({ ticker: 'wbtc', name: 'Wrapped Bitcoin', decimals: 8, assetClass: 'major' }, [
    { network: 'eth', contract: '0x2260FAC5E5542a773Aa44fBCfeDf7C193bc2C599', rank: 39 },
    { network: 'matic', contract: '0x1BFD67037B42Cf73acF2047067bd4F2C47D9BfD6', rank: 65, isBridged: true },
    { network: 'arbitrum', contract: '0x2f2a2543B76A4166549F7aaB2e75Bef0aefC5B0f', rank: 64, isBridged: true },
  ]),
  ...defineToken({ ticker: 'btcb', name: 'Bitcoin BEP20', decimals: 18, assetClass: 'major', icon: 'generic' }, [
    { network: 'bsc', contract: '0x7130d2A12B9BCbFAe4f2634d864A1Ee1Ce3Ead9c', rank: 48, feedCode: 'BTCBEP20' },
  ]),
  ...defineToken(
    {
      ticker: 'cbbtc',
      symbol: 'cbBTC',
      name: 'Coinbase Wrapped BTC',
      decimals: 8,
      assetClass: 'major',
      icon: 'generic',
    },
    [{ network: 'base', contract: '0xcbB7C0000aB88B473b1f5aFd9ef808440eed33Bf', rank: 49 }],
  ),
  ...defineToken({ ticker: 'eth', name: 'Ethereum', decimals: 18, assetClass: 'major' }, [
    { network: 'bsc', contract: '0x2170Ed0880ac9A755fd29B2688956BD959F933F8', rank: 38, isBridged: true },
  ]),
  ...defineToken({ ticker: 'link', name: 'Chainlink', decimals: 18, assetClass: 'major' }, [
    { network: 'eth', contract: '0x514910771AF9Ca656af840dff83E8264EcF986CA', rank: 41 },
    { network: 'arbitrum', contract: '0xf97f4df75117a78c1A5a0DBb814Af92458539FB4', rank: 72, isBridged: true },
  ]),
  ...defineToken({ ticker: 'uni', name: 'Uniswap', decimals: 18, assetClass: 'major' }, [
    { network: 'eth', contract: '0x1f9840a85d5aF5bf1D1762F925BDADdC4201F984', rank: 42 },
  ]),
  ...defineToken({ ticker: 'aave', name: 'Aave', decimals: 18, assetClass: 'major' }, [
    { network: 'eth', contract: '0x7Fc66500c84A76Ad7e9c93437bFc5Ac33E2DDaE9', rank: 43 },
  ]),
  ...defineToken({ ticker: 'crv', name: 'Curve DAO Token', decimals: 18, assetClass: 'minor' }, [
    { network: 'eth', contract: '0xD533a949740bb3306d119CC777fa900bA034cd52', rank: 71 },
  ]),
  ...defineToken({ ticker: 'shib', name: 'Shiba Inu', decimals: 18, assetClass: 'minor', icon: 'generic' }, [
    { network: 'eth', contract: '0x95aD61b0a150d79219dCF64E1E6Cc01f0B64C4cE', rank: 44 },
  ]),
  ...defineToken({ ticker: 'pepe', name: 'Pepe', decimals: 18, assetClass: 'minor', icon: 'generic' }, [
    { network: 'eth', contract: '0x6982508145454Ce325dDbE47a25d4ec3d2311933', rank: 45 },
  ]),
  ...defineToken({ ticker: 'arb', name: 'Arbitrum', decimals: 18, assetClass: 'minor', icon: 'generic' }, [
    { network: 'arbitrum', contract: '0x912CE59144191C1204E64559FE8253a0e49E6548', rank: 46, feedCode: 'ARB' },
  ]),
  ...defineToken({ ticker: 'op', name: 'Optimism', decimals: 18, assetClass: 'minor', icon: 'generic' }, [
    { network: 'op', contract: '0x4200000000000000000000000000000000000042', rank: 47, feedCode: 'OP' },
  ]),
  ...defineToken({ ticker: 'cake', name: 'PancakeSwap Token', decimals: 18, assetClass: 'minor', icon: 'generic' }, [
    { network: 'bsc', contract: '0x0E09FaBB73Bd3Ade0a17ECC321fD13a19e81cE82', rank: 69 },
  ]),
  ...defineToken({ ticker: 'aero', name: 'Aerodrome', decimals: 18, assetClass: 'minor', icon: 'generic' }, [
    { network: 'base', contract: '0x940181a94A35A4569E4529A3CDfB74e38FD98631', rank: 70 },
  ]),
  ...defineToken({ ticker: 'jup', name: 'Jupiter', decimals: 6, assetClass: 'minor', icon: 'generic' }, [
    { network: 'sol', contract: 'JUPyiwrYJFskUPiHa7hkeR8VUtAeFoSYbKedZNsDvCN', rank: 73 },
  ]),
  ...defineToken({ ticker: 'bonk', name: 'Bonk', decimals: 5, assetClass: 'minor', icon: 'generic' }, [
    { network: 'sol', contract: 'DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263', rank: 74 },
  ]),
]
