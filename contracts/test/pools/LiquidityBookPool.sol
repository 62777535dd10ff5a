// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IERC20} from "../../src/Transfers.sol";

/// @dev Test implementation of a Liquidity Book 2.2 pair with LFJ's published formulas and events: bins of constant price, a base fee and
///   a variable fee that grows with the number of bins crossed. The input is the balance above the reserves. Bins have no shares.
///   Without access control.
contract LiquidityBookPool {
    event Swap(
        address indexed sender,
        address indexed to,
        uint24 id,
        bytes32 amountsIn,
        bytes32 amountsOut,
        uint24 volatilityAccumulator,
        bytes32 totalFees,
        bytes32 protocolFees
    );
    event DepositedToBins(address indexed sender, address indexed to, uint256[] ids, bytes32[] amounts);
    event WithdrawnFromBins(address indexed sender, address indexed to, uint256[] ids, bytes32[] amounts);
    event StaticFeeParametersSet(
        address indexed sender,
        uint16 baseFactor,
        uint16 filterPeriod,
        uint16 decayPeriod,
        uint16 reductionFactor,
        uint24 variableFeeControl,
        uint16 protocolShare,
        uint24 maxVolatilityAccumulator
    );
    event HooksParametersSet(address indexed sender, bytes32 hooksParameters);
    event ForcedDecay(address indexed sender, uint24 idReference, uint24 volatilityReference);

    struct Fees {
        uint16 baseFactor;
        uint16 filterPeriod;
        uint16 decayPeriod;
        uint16 reductionFactor;
        uint24 variableFeeControl;
        uint16 protocolShare;
        uint24 maxVolatilityAccumulator;
    }

    struct Volatility {
        uint24 accumulator;
        uint24 volatilityReference;
        uint24 idReference;
        uint40 lastUpdate;
    }

    struct Bin {
        uint128 x;
        uint128 y;
    }

    uint256 private constant BASIS = 10_000;
    address public immutable getTokenX;
    address public immutable getTokenY;
    uint16 public immutable getBinStep;
    uint24 public getActiveId;
    Fees public getStaticFeeParameters;
    Volatility public getVariableFeeParameters;
    mapping(uint24 id => Bin) public getBin;
    /// @dev Sum of all bins.
    Bin public getReserves;
    bytes32 public getLBHooksParameters;
    Bin private _protocolFees;
    uint24 private _lowest;
    uint24 private _highest;
    /// @dev Amount withheld from every output on top of the fee, so that the pool deviates from its formulas.
    uint256 private _skew;

    constructor(address x, address y, uint16 binStep, uint24 activeId) {
        (getTokenX, getTokenY, getBinStep, getActiveId) = (x, y, binStep, activeId);
        getStaticFeeParameters = Fees(8000, 30, 600, 5000, 40_000, 2000, 350_000);
        getVariableFeeParameters.idReference = activeId;
        (_lowest, _highest) = (activeId, activeId);
    }

    /// @dev Adds tokens received since the last update to the active bin.
    function sync() external {
        uint24 id = getActiveId;
        (uint256 x, uint256 y) = (_received(true), _received(false));
        _add(id, x, y);
        _deposited(id, x, y);
    }

    function mint(uint24 id, uint256 x, uint256 y) external {
        IERC20(getTokenX).transferFrom(msg.sender, address(this), x);
        IERC20(getTokenY).transferFrom(msg.sender, address(this), y);
        _add(id, x, y);
        _deposited(id, x, y);
    }

    function burn(uint24 id, uint256 percent) external {
        Bin storage bin = getBin[id];
        uint128 x = uint128(bin.x * percent / 100);
        uint128 y = uint128(bin.y * percent / 100);
        (bin.x, bin.y) = (bin.x - x, bin.y - y);
        (getReserves.x, getReserves.y) = (getReserves.x - x, getReserves.y - y);
        IERC20(getTokenX).transfer(msg.sender, x);
        IERC20(getTokenY).transfer(msg.sender, y);
        emit WithdrawnFromBins(msg.sender, msg.sender, _one(id), new bytes32[](1));
    }

    function setStaticFeeParameters(Fees calldata f) external {
        getStaticFeeParameters = f;
        emit StaticFeeParametersSet(
            msg.sender,
            f.baseFactor,
            f.filterPeriod,
            f.decayPeriod,
            f.reductionFactor,
            f.variableFeeControl,
            f.protocolShare,
            f.maxVolatilityAccumulator
        );
    }

    function setHooksParameters(bytes32 hooks) external {
        getLBHooksParameters = hooks;
        emit HooksParametersSet(msg.sender, hooks);
    }

    function forceDecay() external {
        Volatility storage v = getVariableFeeParameters;
        emit ForcedDecay(msg.sender, v.idReference, v.volatilityReference);
        v.idReference = getActiveId;
        v.volatilityReference = uint24(uint256(v.accumulator) * getStaticFeeParameters.reductionFactor / BASIS);
    }

    function setSkew(uint256 skew) external {
        _skew = skew;
        emit HooksParametersSet(msg.sender, getLBHooksParameters);
    }

    function getSwapOut(uint128 amountIn, bool swapForY)
        external
        view
        returns (uint128 amountInLeft, uint128 amountOut, uint128 fee)
    {
        amountInLeft = amountIn;
        Volatility memory v = _decayed();
        uint24 id = getActiveId;
        for (bool more = true; more; (id, more) = _next(id, swapForY)) {
            uint256 reserve = swapForY ? getBin[id].y : getBin[id].x;
            if (reserve == 0) continue;
            _updateAccumulator(v, id);
            (uint256 spent, uint256 out, uint256 cost) = _step(id, reserve, _feeOf(v), swapForY, amountInLeft);
            amountInLeft -= uint128(spent);
            amountOut += uint128(out);
            fee += uint128(cost);
            if (amountInLeft == 0) break;
        }
        if (_skew < amountOut) amountOut -= uint128(_skew);
    }

    function swap(bool swapForY, address to) external returns (bytes32) {
        uint256 left = _received(swapForY);
        require(left > 0, "InsufficientAmountIn");
        Volatility memory v = _decayed();
        uint24 id = getActiveId;
        uint256 paid;
        while (true) {
            uint256 reserve = swapForY ? getBin[id].y : getBin[id].x;
            if (reserve > 0) {
                _updateAccumulator(v, id);
                (uint256 spent, uint256 out, uint256 cost) = _step(id, reserve, _feeOf(v), swapForY, left);
                left -= spent;
                paid += out;
                _move(id, swapForY, spent, out, cost * getStaticFeeParameters.protocolShare / BASIS);
                emit Swap(msg.sender, to, id, bytes32(spent), bytes32(out), v.accumulator, bytes32(cost), 0);
            }
            if (left == 0) break;
            bool more;
            (id, more) = _next(id, swapForY);
            require(more, "OutOfLiquidity");
        }
        getActiveId = id;
        getVariableFeeParameters = v;
        paid -= _skew < paid ? _skew : 0;
        require(paid > 0, "InsufficientAmountOut");
        IERC20(swapForY ? getTokenY : getTokenX).transfer(to, paid);
        return bytes32(paid);
    }

    function _received(bool ofX) private view returns (uint256) {
        return ofX
            ? IERC20(getTokenX).balanceOf(address(this)) - getReserves.x - _protocolFees.x
            : IERC20(getTokenY).balanceOf(address(this)) - getReserves.y - _protocolFees.y;
    }

    function _move(uint24 id, bool forY, uint256 spent, uint256 out, uint256 toProtocol) private {
        (uint128 added, uint128 removed, uint128 protocolFee) = (uint128(spent - toProtocol), uint128(out), uint128(toProtocol));
        Bin storage bin = getBin[id];
        if (forY) {
            (bin.x, bin.y) = (bin.x + added, bin.y - removed);
            (getReserves.x, getReserves.y) = (getReserves.x + added, getReserves.y - removed);
            _protocolFees.x += protocolFee;
        } else {
            (bin.x, bin.y) = (bin.x - removed, bin.y + added);
            (getReserves.x, getReserves.y) = (getReserves.x - removed, getReserves.y + added);
            _protocolFees.y += protocolFee;
        }
    }

    function _add(uint24 id, uint256 x, uint256 y) private {
        getBin[id].x += uint128(x);
        getBin[id].y += uint128(y);
        getReserves.x += uint128(x);
        getReserves.y += uint128(y);
        if (id < _lowest) _lowest = id;
        if (id > _highest) _highest = id;
    }

    function _deposited(uint24 id, uint256 x, uint256 y) private {
        bytes32[] memory amounts = new bytes32[](1);
        amounts[0] = bytes32(y << 128 | x);
        emit DepositedToBins(msg.sender, msg.sender, _one(id), amounts);
    }

    function _one(uint24 id) private pure returns (uint256[] memory ids) {
        ids = new uint256[](1);
        ids[0] = id;
    }

    /// @dev The next bin with liquidity in the direction of the swap.
    function _next(uint24 id, bool forY) private view returns (uint24, bool) {
        while (forY ? id > _lowest : id < _highest) {
            id = forY ? id - 1 : id + 1;
            if (getBin[id].x > 0 || getBin[id].y > 0) return (id, true);
        }
        return (id, false);
    }

    function _decayed() private view returns (Volatility memory v) {
        v = getVariableFeeParameters;
        uint256 passed = block.timestamp - v.lastUpdate;
        if (passed >= getStaticFeeParameters.filterPeriod) {
            v.idReference = getActiveId;
            v.volatilityReference = passed < getStaticFeeParameters.decayPeriod
                ? uint24(uint256(v.accumulator) * getStaticFeeParameters.reductionFactor / BASIS)
                : 0;
        }
        v.lastUpdate = uint40(block.timestamp);
    }

    function _updateAccumulator(Volatility memory v, uint24 id) private view {
        uint256 crossed = id > v.idReference ? id - v.idReference : v.idReference - id;
        uint256 moved = v.volatilityReference + crossed * BASIS;
        uint256 max = getStaticFeeParameters.maxVolatilityAccumulator;
        v.accumulator = uint24(moved < max ? moved : max);
    }

    /// @dev Total fee in 10^-18.
    function _feeOf(Volatility memory v) private view returns (uint256) {
        uint256 product = uint256(v.accumulator) * getBinStep;
        return uint256(getStaticFeeParameters.baseFactor) * getBinStep * 1e10
            + (product * product * getStaticFeeParameters.variableFeeControl + 99) / 100;
    }

    function _step(uint24 id, uint256 reserve, uint256 fee, bool forY, uint256 left)
        private
        view
        returns (uint256 spent, uint256 out, uint256 cost)
    {
        uint256 price = getPriceFromId(id);
        uint256 net = forY ? _divUp(reserve << 128, price) : _divUp(reserve * price, 1 << 128);
        cost = _divUp(net * fee, 1e18 - fee);
        if (left >= net + cost) return (net + cost, reserve, cost);
        cost = _divUp(left * fee, 1e18);
        uint256 leftAfterFee = left - cost;
        out = forY ? leftAfterFee * price >> 128 : (leftAfterFee << 128) / price;
        return (left, out < reserve ? out : reserve, cost);
    }

    /// @dev (1 + binStep ÷ 10^4)^(id − 2^23) as 128.128 fixed point. The power is computed from the inverse, which is below one.
    function getPriceFromId(uint24 id) public view returns (uint256 price) {
        if (id == 1 << 23) return 1 << 128;
        bool above = id > 1 << 23;
        uint256 steps = above ? id - (1 << 23) : (1 << 23) - id;
        uint256 squared = type(uint256).max / ((1 << 128) + (uint256(getBinStep) << 128) / BASIS);
        price = 1 << 128;
        for (; steps > 0; steps >>= 1) {
            if (steps & 1 == 1) price = price * squared >> 128;
            squared = squared * squared >> 128;
        }
        if (above) price = type(uint256).max / price;
    }

    function _divUp(uint256 a, uint256 b) private pure returns (uint256) {
        return (a + b - 1) / b;
    }
}
