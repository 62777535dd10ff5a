import type { CurrencyDefinition } from '../src/core/domain/currency.ts'
import { defineToken } from './define-currency.ts'

/** Tokens that follow a state's money. On BNB Smart Chain USDT and USDC have 18 decimals, on Stellar every asset has 7. */
export const stablecoins: readonly CurrencyDefinition[] = [
  ...defineToken({ ticker: 'usdt', name: 'Tether USD', decimals: 6, assetClass: 'stable' }, [
    { network: 'eth', contract: '0xdAC17F958D2ee523a2206206994597C13D831ec7', rank: 4 },
    { network: 'trx', contract: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', rank: 3 },
    { network: 'bsc', contract: '0x55d398326f99059fF775485246999027B3197955', decimals: 18, rank: 14, isBridged: true },
    { network: 'matic', contract: '0xc2132D05D31c914a87C6611C10748AEb04B58e8F', rank: 20, isBridged: true },
    { network: 'arbitrum', contract: '0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9', rank: 22, isBridged: true },
    { network: 'op', contract: '0x94b008aA00579c1307B0EF2c499aD98a8ce58e58', rank: 33, isBridged: true },
    { network: 'cchain', contract: '0x9702230A8Ea53601f5cD2dc00fDBc13d4dF4A8c7', rank: 34 },
    { network: 'celo', contract: '0x48065fbBE25f71C9282ddf5e1cD6D6A887483D5e', rank: 55 },
    { network: 'linea', contract: '0xA219439258ca9da29E9Cc4cE5596924745e12B93', rank: 58, isBridged: true },
    { network: 'sol', contract: 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB', rank: 17 },
    { network: 'ton', contract: 'EQCxE6mUtQJKFnGfaROTKOt1lZbDiiX1kCixRv7Nw2Id_sDs', rank: 18 },
  ]),
  ...defineToken({ ticker: 'usdc', name: 'USD Coin', decimals: 6, assetClass: 'stable' }, [
    { network: 'eth', contract: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48', rank: 5 },
    { network: 'bsc', contract: '0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d', decimals: 18, rank: 19, isBridged: true },
    { network: 'matic', contract: '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359', rank: 21 },
    { network: 'arbitrum', contract: '0xaf88d065e77c8cC2239327C5EDb3A432268e5831', rank: 23 },
    { network: 'op', contract: '0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85', rank: 32 },
    { network: 'base', contract: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', rank: 16 },
    { network: 'cchain', contract: '0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E', rank: 35 },
    { network: 'celo', contract: '0xcebA9300f2b948710d2653dD7B07f33A8B32118C', rank: 56 },
    { network: 'linea', contract: '0x176211869cA2b568f2A7D4EE941E073a821EE1ff', rank: 57 },
    { network: 'sonic', contract: '0x29219dd400f2Bf60E5a23d13Be72B486D4038894', rank: 59 },
    { network: 'uni', contract: '0x078D782b760474a361dDA0AF3839290b0EF57AD6', rank: 60 },
    { network: 'sei', contract: '0xe15fC38F6D8c56aF07bbCBe3BAf5708A2Bf42392', rank: 61 },
    { network: 'sol', contract: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', rank: 15 },
    {
      network: 'sui',
      contract: '0xdba34672e30cb065b1f93e3ab55318768fd6fef66c15942c9f7cb846e2f900e7::usdc::USDC',
      rank: 53,
    },
    {
      network: 'xlm',
      contract: 'USDC:GA5ZSEJYB37JRC5AVCIA5MOP4RHTM335X2KGX3IHOJAPP5RE34K4KZVN',
      decimals: 7,
      rank: 54,
    },
  ]),
  ...defineToken({ ticker: 'dai', name: 'Dai', decimals: 18, assetClass: 'stable' }, [
    { network: 'eth', contract: '0x6B175474E89094C44Da98b954EedeAC495271d0F', rank: 40 },
    { network: 'matic', contract: '0x8f3Cf7ad23Cd3CaDbD9735AFf958023239c6A063', rank: 66, isBridged: true },
    { network: 'arbitrum', contract: '0xDA10009cBd5D07dd0CeCc66161FC93D7c9000da1', rank: 67, isBridged: true },
    { network: 'op', contract: '0xDA10009cBd5D07dd0CeCc66161FC93D7c9000da1', rank: 68, isBridged: true },
  ]),
  ...defineToken(
    { ticker: 'eurc', name: 'EURC', decimals: 6, assetClass: 'stable', isPeggedToUsd: false, icon: 'generic' },
    [
      { network: 'eth', contract: '0x1aBaEA1f7C830bD89Acc67eC4af516284b1bC33c', rank: 62 },
      { network: 'base', contract: '0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42', rank: 63 },
    ],
  ),
]
