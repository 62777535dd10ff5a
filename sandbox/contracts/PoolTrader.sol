// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

interface IToken {
    function balanceOf(address owner) external view returns (uint256);
}

interface IPair {
    function getReserves() external view returns (uint112 reserve0, uint112 reserve1, uint32 timestamp);
    function swap(uint256 amount0Out, uint256 amount1Out, address to, bytes calldata payload) external;
}

interface IConcentratedPool {
    function swap(address to, bool zeroForOne, int256 amount, uint160 limit, bytes calldata payload)
        external
        returns (int256, int256);
}

interface IUniswapV3Pool {
    function mint(address to, int24 lower, int24 upper, uint128 liquidity, bytes calldata payload) external;
}

interface IAlgebraPool {
    function mint(address from, address to, int24 lower, int24 upper, uint128 liquidity, bytes calldata payload)
        external;
}

interface IPoolManager {
    struct PoolKey {
        address currency0;
        address currency1;
        uint24 fee;
        int24 tickSpacing;
        address hooks;
    }

    struct LiquidityParams {
        int24 tickLower;
        int24 tickUpper;
        int256 liquidityDelta;
        bytes32 salt;
    }

    struct SwapParams {
        bool zeroForOne;
        int256 amountSpecified;
        uint160 sqrtPriceLimitX96;
    }

    function unlock(bytes calldata payload) external returns (bytes memory);
    function modifyLiquidity(PoolKey calldata key, LiquidityParams calldata params, bytes calldata hook)
        external
        returns (int256 delta, int256 fees);
    function swap(PoolKey calldata key, SwapParams calldata params, bytes calldata hook) external returns (int256);
    function sync(address currency) external;
    function settle() external payable returns (uint256);
    function take(address currency, address to, uint256 amount) external;
    function extsload(bytes32 slot) external view returns (bytes32);
}

/// Provides the liquidity of the sandbox's pools and moves their prices. It uses only its own tokens.
contract PoolTrader {
    uint8 private constant PAIR = 2;
    uint8 private constant POOL = 3;
    uint8 private constant MANAGED = 4;
    uint8 private constant ALGEBRA = 5;

    struct Pool {
        uint8 kind;
        /// The pool contract; zero for a pool of the V4 manager.
        address at;
        address token0;
        address token1;
        uint24 fee;
        int24 spacing;
    }

    address public immutable owner;
    IPoolManager private immutable manager;
    /// The pool whose payment callback is accepted; zero outside of a call.
    address private transient payee;

    error NotTheOwner();
    error NotThePool();
    error CallFailed(address to, bytes reason);

    modifier onlyOwner() {
        if (msg.sender != owner) revert NotTheOwner();
        _;
    }

    constructor(address owner_, address manager_) {
        owner = owner_;
        manager = IPoolManager(manager_);
    }

    receive() external payable {}

    function call(address to, uint256 value, bytes calldata payload) external onlyOwner {
        (bool done, bytes memory reason) = to.call{value: value}(payload);
        if (!done) revert CallFailed(to, reason);
    }

    /// Adds liquidity between two ticks.
    function add(Pool calldata pool, int24 lower, int24 upper, uint128 liquidity) external onlyOwner {
        payee = pool.at;
        bytes memory tokens = abi.encode(pool.token0, pool.token1);
        if (pool.kind == POOL) {
            IUniswapV3Pool(pool.at).mint(address(this), lower, upper, liquidity, tokens);
        } else if (pool.kind == ALGEBRA) {
            IAlgebraPool(pool.at).mint(address(this), address(this), lower, upper, liquidity, tokens);
        } else {
            manager.unlock(abi.encode(true, pool, lower, upper, uint256(liquidity)));
        }
        payee = address(0);
    }

    /// Swaps in each pool until it reaches its target price: √(token1 / token0) × 2⁹⁶ in base units.
    function move(Pool[] calldata pools, uint160[] calldata sqrtPrices) external onlyOwner {
        for (uint256 i = 0; i < pools.length; i++) {
            Pool calldata pool = pools[i];
            if (pool.kind == PAIR) _movePair(pool, sqrtPrices[i]);
            else if (pool.kind == MANAGED) manager.unlock(abi.encode(false, pool, int24(0), int24(0), uint256(sqrtPrices[i])));
            else _movePool(pool, sqrtPrices[i]);
        }
    }

    function sqrtPriceOf(Pool calldata pool) external view returns (uint160) {
        if (pool.kind == PAIR) {
            (uint256 reserve0, uint256 reserve1,) = IPair(pool.at).getReserves();
            // In two steps, because reserve1 × 2¹⁹² can overflow.
            return uint160((_root((reserve1 << 96) / reserve0) << 48));
        }
        return pool.kind == MANAGED ? _managedPrice(pool) : _poolPrice(pool.at, pool.kind);
    }

    function uniswapV3MintCallback(uint256 amount0, uint256 amount1, bytes calldata tokens) external {
        _payBoth(int256(amount0), int256(amount1), tokens);
    }

    function algebraMintCallback(uint256 amount0, uint256 amount1, bytes calldata tokens) external {
        _payBoth(int256(amount0), int256(amount1), tokens);
    }

    function uniswapV3SwapCallback(int256 amount0, int256 amount1, bytes calldata tokens) external {
        _payBoth(amount0, amount1, tokens);
    }

    function algebraSwapCallback(int256 amount0, int256 amount1, bytes calldata tokens) external {
        _payBoth(amount0, amount1, tokens);
    }

    function unlockCallback(bytes calldata payload) external returns (bytes memory) {
        if (msg.sender != address(manager)) revert NotThePool();
        (bool adds, Pool memory pool, int24 lower, int24 upper, uint256 value) =
            abi.decode(payload, (bool, Pool, int24, int24, uint256));
        IPoolManager.PoolKey memory key =
            IPoolManager.PoolKey(pool.token0, pool.token1, pool.fee, pool.spacing, address(0));
        int256 delta;
        if (adds) {
            (delta,) = manager.modifyLiquidity(key, IPoolManager.LiquidityParams(lower, upper, int256(value), 0), "");
        } else {
            uint160 price = _managedPrice(pool);
            if (price == value) return "";
            bool zeroForOne = price > value;
            delta = manager.swap(key, IPoolManager.SwapParams(zeroForOne, type(int128).min / 2, uint160(value)), "");
        }
        _balance(pool.token0, int128(delta >> 128));
        _balance(pool.token1, int128(delta));
        return "";
    }

    function _balance(address token, int128 delta) private {
        if (delta > 0) manager.take(token, address(this), uint128(delta));
        if (delta >= 0) return;
        uint256 owed = uint256(-int256(delta));
        manager.sync(token);
        if (token != address(0)) _pay(token, address(manager), owed);
        manager.settle{value: token == address(0) ? owed : 0}();
    }

    function _movePool(Pool calldata pool, uint160 target) private {
        uint160 price = _poolPrice(pool.at, pool.kind);
        if (price == target) return;
        payee = pool.at;
        bytes memory tokens = abi.encode(pool.token0, pool.token1);
        IConcentratedPool(pool.at).swap(address(this), price > target, type(int128).max / 2, target, tokens);
        payee = address(0);
    }

    function _movePair(Pool calldata pool, uint160 target) private {
        (uint256 reserve0, uint256 reserve1,) = IPair(pool.at).getReserves();
        uint256 root = _root(reserve0 * reserve1);
        uint256 wanted0 = (root << 96) / target;
        uint256 wanted1 = (root * target) >> 96;
        // Skips changes below one millionth.
        if (wanted0 > reserve0 + reserve0 / 1e6) {
            _pay(pool.token0, pool.at, wanted0 - reserve0);
            uint256 kept = (IToken(pool.token0).balanceOf(pool.at) - reserve0) * 997;
            IPair(pool.at).swap(0, kept * reserve1 / (reserve0 * 1000 + kept), address(this), "");
        } else if (wanted1 > reserve1 + reserve1 / 1e6) {
            _pay(pool.token1, pool.at, wanted1 - reserve1);
            uint256 kept = (IToken(pool.token1).balanceOf(pool.at) - reserve1) * 997;
            IPair(pool.at).swap(kept * reserve0 / (reserve1 * 1000 + kept), 0, address(this), "");
        }
    }

    /// The price is the first word of `slot0` (Uniswap V3) and `globalState` (Algebra).
    function _poolPrice(address pool, uint8 kind) private view returns (uint160 price) {
        (bool answered, bytes memory words) =
            pool.staticcall(abi.encodeWithSignature(kind == ALGEBRA ? "globalState()" : "slot0()"));
        if (!answered) revert NotThePool();
        assembly ("memory-safe") {
            price := mload(add(words, 32))
        }
    }

    /// The manager's `pools` mapping is at storage slot 6; the price is the lower 160 bits of a pool's first word.
    function _managedPrice(Pool memory pool) private view returns (uint160) {
        bytes32 id = keccak256(abi.encode(pool.token0, pool.token1, pool.fee, pool.spacing, address(0)));
        return uint160(uint256(manager.extsload(keccak256(abi.encode(id, uint256(6))))));
    }

    function _payBoth(int256 amount0, int256 amount1, bytes calldata tokens) private {
        if (msg.sender != payee) revert NotThePool();
        (address token0, address token1) = abi.decode(tokens, (address, address));
        if (amount0 > 0) _pay(token0, msg.sender, uint256(amount0));
        if (amount1 > 0) _pay(token1, msg.sender, uint256(amount1));
    }

    function _pay(address token, address to, uint256 amount) private {
        (bool paid, bytes memory answer) = token.call(abi.encodeWithSignature("transfer(address,uint256)", to, amount));
        if (!paid || (answer.length > 0 && !abi.decode(answer, (bool)))) revert CallFailed(token, answer);
    }

    function _root(uint256 square) private pure returns (uint256 root) {
        if (square == 0) return 0;
        root = 1 << 128;
        for (uint256 i = 0; i < 140; i++) {
            uint256 next = (root + square / root) >> 1;
            if (next >= root) return root;
            root = next;
        }
    }
}
