// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {SwapExecutor} from "../../src/SwapExecutor.sol";
import {SwapRouter} from "../../src/SwapRouter.sol";
import {IERC20} from "../../src/Transfers.sol";

/// @dev Another face of the attacker's: asks the executor for money in a pool's name.
contract Accomplice {
    function ask(address executor, int256 amount) external {
        (bool done,) = executor.call(
            abi.encodeWithSignature("uniswapV3SwapCallback(int256,int256,bytes)", amount, amount, "")
        );
        require(done, "refused");
    }
}

/// @dev A pool of every kind at once, and an attacker's.
contract TrickPool {
    enum Trick {
        AskMore,
        AskOther,
        AskTwice,
        AskThroughAnother,
        AskNothing,
        Unlock,
        Reenter,
        LeaveAllowance
    }

    address private immutable a;
    address private immutable b;
    address private immutable attacker;
    Accomplice private immutable accomplice = new Accomplice();
    Trick private trick;
    address private victim;
    SwapExecutor private executor;
    SwapRouter private router;
    uint256 public tried;
    uint256 public succeeded;

    constructor(address a_, address b_, address attacker_) {
        (a, b, attacker) = (a_, b_, attacker_);
    }

    function set(Trick trick_, address victim_, SwapExecutor executor_, SwapRouter router_) external {
        (trick, victim, executor, router) = (trick_, victim_, executor_, router_);
    }

    function getReserves() external view returns (uint256, uint256, uint256) {
        uint256 reserve = IERC20(a).balanceOf(address(this)) - 1;
        return (reserve, reserve, 0);
    }

    function getAmountOut(uint256, address) external pure returns (uint256) {
        return 1;
    }

    /// @dev Uniswap V2 and Solidly.
    function swap(uint256, uint256, address to, bytes calldata) external {
        play(to, 0);
    }

    /// @dev Uniswap V3.
    function swap(address to, bool, int256 amount, uint160, bytes calldata) external returns (int256, int256) {
        play(to, amount);
        return (amount, amount);
    }

    /// @dev Uniswap V4: also as its manager.
    function unlock(bytes calldata) external returns (bytes memory) {
        play(attacker, 10e18);
        return "";
    }

    /// @dev As an executor.
    function executeSwapRoute(uint256[] calldata, address, address) external payable {}

    function exchange(int128, int128, uint256, uint256) external {
        play(msg.sender, 0);
    }

    function swap(bool, address to) external {
        play(to, 0);
    }

    fallback() external {
        // Balancer's swap, and what of V4's manager comes after unlock: an answer of one word.
        if (trick == Trick.LeaveAllowance) play(msg.sender, 0);
        if (trick == Trick.Reenter) reenter();
        assembly {
            mstore(0, 1)
            return(0, 32)
        }
    }

    function play(address to, int256 amount) private {
        if (trick == Trick.AskMore) ask(amount + 1, -1, abi.encode(victim, a));
        if (trick == Trick.AskOther) ask(-1, 1e18, abi.encode(b, victim, 1e18));
        if (trick == Trick.AskTwice) {
            ask(amount, -1, "");
            ask(amount, -1, "");
        }
        if (trick == Trick.AskThroughAnother) accomplice.ask(address(executor), amount);
        if (trick == Trick.Unlock) {
            executor.unlockCallback(abi.encode(b, uint256(0), attacker));
            executor.unlockCallback(abi.encode(b, uint256(0), attacker));
        }
        if (trick == Trick.Reenter) reenter();
        // A little of the output, so that the router's minimum is not what stops it.
        (bool minted,) = b.call(abi.encodeWithSignature("mint(address,uint256)", to, 1e18));
        require(minted);
    }

    function ask(int256 amount0, int256 amount1, bytes memory data) private {
        (bool done, bytes memory reason) = msg.sender.call(
            abi.encodeWithSignature("uniswapV3SwapCallback(int256,int256,bytes)", amount0, amount1, data)
        );
        if (!done) {
            assembly ("memory-safe") {
                revert(add(reason, 32), mload(reason))
            }
        }
    }

    function reenter() private {
        tried++;
        uint256[] memory sweep = new uint256[](2);
        sweep[0] = 1;
        SwapRouter.Swap memory s;
        (s.tokenIn, s.tokenOut, s.amountIn, s.minOut) = (a, b, 1, 1);
        // With an executor that does nothing: what lies in the router would be its output.
        (s.recipient, s.executor, s.deadline) = (attacker, address(this), block.timestamp);
        (s.feeTo, s.feePpm) = (attacker, 1);
        IERC20(a).approve(address(router), 1);
        address[2] memory tokens = [a, b];
        for (uint256 i = 0; i < 2; i++) {
            sweep[1] = uint256(uint160(tokens[i]));
            try executor.executeSwapRoute(sweep, attacker, attacker) {
                succeeded++;
            } catch {}
        }
        try router.swap(s, sweep) {
            succeeded++;
        } catch {}
    }
}

/// @dev An executor of the attacker's.
contract CallingExecutor {
    uint256 public constant TRICKS = 5;
    address private immutable victim;
    address private immutable attacker;
    address private immutable a;
    address private immutable b;
    SwapRouter private immutable router;
    uint256 private trick;

    constructor(address victim_, address attacker_, address a_, address b_, SwapRouter router_) {
        (victim, attacker, a, b, router) = (victim_, attacker_, a_, b_, router_);
    }

    function set(uint256 trick_) external {
        trick = trick_;
    }

    function executeSwapRoute(uint256[] calldata route, address, address) external payable {
        if (trick == 0) IERC20(a).transferFrom(victim, attacker, 1e18);
        if (trick == 1) {
            SwapRouter.Swap memory s;
            (s.tokenIn, s.tokenOut, s.amountIn, s.minOut) = (a, b, 1e18, 1);
            (s.recipient, s.executor, s.deadline) = (attacker, address(this), block.timestamp);
            router.swap(s, route);
        }
        // 1inch Fusion v1: arguments that point elsewhere.
        if (trick == 2) {
            (bool done,) = address(router).call(abi.encodePacked(SwapRouter.swap.selector, type(uint256).max, victim));
            require(done, "refused");
        }
        if (trick == 3) {
            (bool done,) = address(router).call{value: address(this).balance}("");
            require(done, "refused");
        }
        // Keeps what it got and pays nothing: the minimum.
        require(trick != 4 || IERC20(a).balanceOf(address(this)) > 0);
    }
}

/// @dev A second holder of allowances, as Permit2 is one.
contract Permit2Like {
    mapping(address owner => mapping(address token => mapping(address spender => bool))) public allowed;

    function allow(address owner, address token, address spender) external {
        allowed[owner][token][spender] = true;
    }

    function transferFrom(address from, address to, uint160 amount, address token) external {
        require(allowed[from][token][msg.sender], "not allowed");
        IERC20(token).transferFrom(from, to, amount);
    }
}
