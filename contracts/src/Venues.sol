// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

interface IWrapped {
    function deposit() external payable;
    function withdraw(uint256 amount) external;
}

/// @dev Uniswap V2 and Solidly. The pools declare reserves as uint112; the ABI encoding is the same.
interface IPair {
    function getReserves() external view returns (uint256 reserve0, uint256 reserve1, uint256 timestamp);
    function getAmountOut(uint256 amountIn, address tokenIn) external view returns (uint256);
    function swap(uint256 amount0Out, uint256 amount1Out, address to, bytes calldata data) external;
}

interface IUniswapV3Pool {
    function swap(address to, bool zeroForOne, int256 amount, uint160 sqrtPriceLimitX96, bytes calldata data)
        external
        returns (int256 amount0, int256 amount1);
}

interface IPoolManager {
    struct PoolKey {
        address currency0;
        address currency1;
        uint24 fee;
        int24 tickSpacing;
        address hooks;
    }

    struct SwapParams {
        bool zeroForOne;
        int256 amountSpecified;
        uint160 sqrtPriceLimitX96;
    }

    function unlock(bytes calldata data) external returns (bytes memory);
    /// @return delta amount0 in the upper and amount1 in the lower 128 bits; negative amounts are owed to the manager
    function swap(PoolKey calldata key, SwapParams calldata params, bytes calldata hookData)
        external
        returns (int256 delta);
    function sync(address currency) external;
    function settle() external payable returns (uint256);
    function take(address currency, address to, uint256 amount) external;
}

/// @dev No return values are declared, because Curve's old pools return none.
interface ICurvePool {
    function exchange(int128 i, int128 j, uint256 amountIn, uint256 minOut) external;
    function exchange(uint256 i, uint256 j, uint256 amountIn, uint256 minOut) external;
}

interface IBalancerVault {
    struct SingleSwap {
        bytes32 poolId;
        uint8 kind;
        address assetIn;
        address assetOut;
        uint256 amount;
        bytes userData;
    }

    struct FundManagement {
        address sender;
        bool fromInternalBalance;
        address recipient;
        bool toInternalBalance;
    }

    function swap(SingleSwap calldata swap, FundManagement calldata funds, uint256 limit, uint256 deadline)
        external
        payable
        returns (uint256);
}

/// @dev Liquidity Book 2.0 to 2.2. No return value is declared, because it differs between the versions.
interface ILBPair {
    function swap(bool swapForY, address to) external;
}
