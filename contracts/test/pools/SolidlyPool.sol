// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

interface IPoolToken {
    function balanceOf(address owner) external view returns (uint256);
    function decimals() external view returns (uint8);
    function transfer(address to, uint256 amount) external returns (bool);
}

interface IPoolFactory {
    /// @dev Fee in ten-thousandths of the input.
    function feeOf(address pool, bool stable) external view returns (uint256);
    function isPaused() external view returns (bool);
}

/// @dev Test implementation of Solidly's published formulas: volatile x·y = k, stable x³y + y³x = k. The fee is subtracted from the input
///   first and leaves the pool.
contract SolidlyPool {
    event Sync(uint256 reserve0, uint256 reserve1);

    uint256 private constant ONE = 1e18;
    /// @dev Fee of a pool without a factory, in ten-thousandths.
    uint256 private constant FEE = 5;
    address private constant FEE_RECIPIENT = address(0xFEE5);

    address public token0;
    address public token1;
    bool public stable;
    /// @dev True: Newton's iteration of Solidly and Velodrome V1. False: Newton's iteration of Velodrome V2.
    bool private usesV1Iteration;
    IPoolFactory private factory;
    uint256 private unit0;
    uint256 private unit1;
    uint256 private reserve0;
    uint256 private reserve1;

    function initialize(address a, address b, bool stable_, bool usesV1Iteration_, address factory_) external {
        require(token0 == address(0), "AI");
        (token0, token1) = a < b ? (a, b) : (b, a);
        (stable, usesV1Iteration, factory) = (stable_, usesV1Iteration_, IPoolFactory(factory_));
        unit0 = 10 ** IPoolToken(token0).decimals();
        unit1 = 10 ** IPoolToken(token1).decimals();
    }

    function sync() public {
        reserve0 = IPoolToken(token0).balanceOf(address(this));
        reserve1 = IPoolToken(token1).balanceOf(address(this));
        emit Sync(reserve0, reserve1);
    }

    function getReserves() external view returns (uint256, uint256, uint256) {
        return (reserve0, reserve1, block.timestamp);
    }

    function metadata() external view returns (uint256, uint256, uint256, uint256, bool, address, address) {
        return (unit0, unit1, reserve0, reserve1, stable, token0, token1);
    }

    function getAmountOut(uint256 amountIn, address tokenIn) external view returns (uint256) {
        amountIn -= amountIn * _fee() / 1e4;
        bool zeroForOne = tokenIn == token0;
        (uint256 x, uint256 y) = zeroForOne ? (reserve0, reserve1) : (reserve1, reserve0);
        if (!stable) return amountIn * y / (x + amountIn);
        (uint256 unitIn, uint256 unitOut) = zeroForOne ? (unit0, unit1) : (unit1, unit0);
        y = y * ONE / unitOut;
        x = amountIn * ONE / unitIn + x * ONE / unitIn;
        uint256 k = _k(reserve0, reserve1);
        return (y - (usesV1Iteration ? _solveV1(x, k, y) : _solveV2(x, k, y))) * unitOut / ONE;
    }

    function swap(uint256 out0, uint256 out1, address to, bytes calldata) external {
        require(address(factory) == address(0) || !factory.isPaused(), "P");
        require(out0 < reserve0 && out1 < reserve1, "IL");
        if (out0 > 0) IPoolToken(token0).transfer(to, out0);
        if (out1 > 0) IPoolToken(token1).transfer(to, out1);
        uint256 balance0 = IPoolToken(token0).balanceOf(address(this));
        uint256 balance1 = IPoolToken(token1).balanceOf(address(this));
        uint256 in0 = balance0 > reserve0 - out0 ? balance0 - (reserve0 - out0) : 0;
        uint256 in1 = balance1 > reserve1 - out1 ? balance1 - (reserve1 - out1) : 0;
        require(in0 + in1 > 0, "IIA");
        _takeFee(token0, in0);
        _takeFee(token1, in1);
        uint256 before = _k(reserve0, reserve1);
        sync();
        require(_k(reserve0, reserve1) >= before, "K");
    }

    function _takeFee(address token, uint256 amountIn) private {
        uint256 fee = amountIn * _fee() / 1e4;
        if (fee > 0) IPoolToken(token).transfer(FEE_RECIPIENT, fee);
    }

    function _fee() private view returns (uint256) {
        return address(factory) == address(0) ? FEE : factory.feeOf(address(this), stable);
    }

    function _k(uint256 x, uint256 y) private view returns (uint256) {
        if (!stable) return x * y;
        (x, y) = (x * ONE / unit0, y * ONE / unit1);
        return _product(x, y);
    }

    function _product(uint256 x, uint256 y) private pure returns (uint256) {
        return (x * y / ONE) * (x * x / ONE + y * y / ONE) / ONE;
    }

    function _slope(uint256 x, uint256 y) private pure returns (uint256) {
        return 3 * x * (y * y / ONE) / ONE + (x * x / ONE) * x / ONE;
    }

    /// @dev Multiplies in a different order than _k, and ends when a step is at most 1.
    function _solveV1(uint256 x, uint256 k, uint256 y) private pure returns (uint256) {
        for (uint256 i = 0; i < 255; i++) {
            uint256 product = x * ((y * y / ONE) * y / ONE) / ONE + ((x * x / ONE) * x / ONE) * y / ONE;
            uint256 step = (product < k ? k - product : product - k) * ONE / _slope(x, y);
            y = product < k ? y + step : y - step;
            if (step <= 1) return y;
        }
        return y;
    }

    /// @dev Ends when neither y + 1 nor y - 1 is closer. Tests y + 1 with _k, which scales the amounts a second time.
    function _solveV2(uint256 x, uint256 k, uint256 y) private view returns (uint256) {
        for (uint256 i = 0; i < 255; i++) {
            uint256 product = _product(x, y);
            uint256 step = (product < k ? k - product : product - k) * ONE / _slope(x, y);
            if (product < k) {
                if (step == 0 && _k(x, y + 1) > k) return y + 1;
                y += step == 0 ? 1 : step;
            } else {
                if (step == 0 && (product == k || _product(x, y - 1) < k)) return y;
                y -= step == 0 ? 1 : step;
            }
        }
        revert("!y");
    }
}

/// @dev Common part of both factories.
abstract contract SolidlyFactory is IPoolFactory {
    mapping(address a => mapping(address b => mapping(bool stable => address))) internal poolOf;
    bool public isPaused;
    uint256 internal stableFee = 5;
    uint256 internal volatileFee = 30;
    uint256 internal poolCount;

    /// @dev Emits no event, as in the published factories.
    function setFee(bool stable, uint256 fee) external {
        if (stable) stableFee = fee;
        else volatileFee = fee;
    }

    function setPaused(bool paused) external {
        isPaused = paused;
    }

    function feeOf(address, bool stable) public view virtual returns (uint256) {
        return stable ? stableFee : volatileFee;
    }

    function _createPool(address a, address b, bool stable, bool usesV1Iteration)
        internal
        returns (address, address, SolidlyPool pool)
    {
        (a, b) = a < b ? (a, b) : (b, a);
        require(poolOf[a][b][stable] == address(0), "PE");
        pool = new SolidlyPool{salt: keccak256(abi.encodePacked(a, b, stable))}();
        pool.initialize(a, b, stable, usesV1Iteration, address(this));
        poolOf[a][b][stable] = poolOf[b][a][stable] = address(pool);
        poolCount++;
        return (a, b, pool);
    }
}

/// @dev Views of Velodrome V1's factory and of its forks, which use the term pair for a pool.
contract VelodromeV1Factory is SolidlyFactory {
    event PairCreated(address indexed token0, address indexed token1, bool stable, address pair, uint256 count);

    function createPair(address tokenA, address tokenB, bool stable) external returns (address) {
        (address a, address b, SolidlyPool pool) = _createPool(tokenA, tokenB, stable, true);
        emit PairCreated(a, b, stable, address(pool), poolCount);
        return address(pool);
    }

    function getPair(address a, address b, bool stable) external view returns (address) {
        return poolOf[a][b][stable];
    }

    function getFee(bool stable) external view returns (uint256) {
        return feeOf(address(0), stable);
    }

    function getFee(address pair, bool stable) external view returns (uint256) {
        return feeOf(pair, stable);
    }

    /// @dev Equalizer's view.
    function getRealFee(address pair) external view returns (uint256) {
        return feeOf(pair, SolidlyPool(pair).stable()) * 1e14;
    }

    /// @dev Ramses' view; 0 means that the pair uses the default fee.
    function pairFee(address) external pure returns (uint256) {
        return 0;
    }
}

/// @dev Views of Velodrome V2's factory.
contract VelodromeV2Factory is SolidlyFactory {
    event PoolCreated(
        address indexed token0, address indexed token1, bool indexed stable, address pool, uint256 count
    );
    event SetCustomFee(address indexed pool, uint256 fee);

    /// @dev Stands for a custom fee of zero.
    uint256 private constant NO_FEE = 420;
    mapping(address pool => uint256) public customFee;

    function createPool(address tokenA, address tokenB, bool stable) external returns (address) {
        (address a, address b, SolidlyPool pool) = _createPool(tokenA, tokenB, stable, false);
        emit PoolCreated(a, b, stable, address(pool), poolCount);
        return address(pool);
    }

    function getPool(address a, address b, bool stable) external view returns (address) {
        return poolOf[a][b][stable];
    }

    function setCustomFee(address pool, uint256 fee) external {
        customFee[pool] = fee;
        emit SetCustomFee(pool, fee);
    }

    function getFee(address pool, bool stable) public view returns (uint256) {
        return feeOf(pool, stable);
    }

    function feeOf(address pool, bool stable) public view override(SolidlyFactory) returns (uint256) {
        uint256 fee = customFee[pool];
        return fee == NO_FEE ? 0 : fee != 0 ? fee : super.feeOf(pool, stable);
    }
}
